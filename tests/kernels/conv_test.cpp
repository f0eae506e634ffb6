// convolve_host against convolve_reference, bit for bit, on every instruction set of this processor.
#include "kernels/conv/conv.hpp"

#include <catch2/catch.hpp>

#include "conv_host_case.hpp"
#include "core/error.hpp"

using namespace sepconv;

namespace {

void transpose_pixels(const ConstPixelView& in, const PixelView& out) {
  for (std::int64_t row = 0; row < in.extent.rows; ++row) {
    for (std::int64_t col = 0; col < in.extent.cols; ++col)
      copy_pixels(in.crop({row, col, 1, 1}), out.crop({col, row, 1, 1}));
  }
}

}  // namespace

TEST_CASE("convolve_host has the reference's bits: random small images") {
  Random random(1);
  for (int i = 0; i < 600; ++i) check_case(random_case(random, 24, 6), random);
}

TEST_CASE("convolve_host has the reference's bits: radii up to and beyond the image") {
  Random random(2);
  for (int i = 0; i < 60; ++i) check_case(random_case(random, 70, 40), random);
}

TEST_CASE("convolve_host has the reference's bits: every pair of types, border and arithmetic") {
  Random random(3);
  for (const PixelType from : kPixelTypes) {
    for (const PixelType to : kPixelTypes) {
      for (const BorderMode mode : kBorderModes) {
        for (const Arithmetic arithmetic : kArithmetics) {
          const Extent image{19, 37};
          check_case({{random_taps(random, 3), random_taps(random, 2)},
                      {mode, 7.25},
                      image,
                      Rect::whole(image),
                      2,
                      from,
                      to,
                      arithmetic,
                      true},
                     random);
        }
      }
    }
  }
}

TEST_CASE("convolve_host has the reference's bits: sizes around vectors and blocks") {
  Random random(4);
  for (const std::int64_t cols :
       {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17}) {
      const Extent image{rows, cols};
      const Border border{random_choice(random, kBorderModes), 3};
      check_case({{random_taps(random, 2), random_taps(random, 1)},
                  border,
                  image,
                  Rect::whole(image),
                  1,
                  random_choice(random, kPixelTypes),
                  random_choice(random, kPixelTypes),
                  Arithmetic::f32,
                  false},
                 random);
    }
  }
}

TEST_CASE("convolve_host has the reference's bits: integers under few row taps, at every border") {
  Random random(9);
  for (const PixelType from : {PixelType::u8, PixelType::u16, PixelType::i16}) {
    for (const std::int64_t radius : {0, 1, 2, 3}) {
      for (const BorderMode mode : kBorderModes) {
        for (const std::int64_t cols : {1, 2, 5, 16, 31, 127, 128, 129, 2500}) {
          const Extent image{9, cols};
          for (const Rect& out :
               {Rect::whole(image), Rect{2, cols / 3, 5, cols - cols / 3}, Rect{3, 0, 6, ceil_div(cols, 2)},
                Rect{2, cols / 3, 5, ceil_div(cols, 4)}}) {
            // The constant is not a pixel's value.
            check_case({{random_taps(random, radius), random_taps(random, 1)},
                        {mode, 7.25},
                        image,
                        out,
                        1,
                        from,
                        from,
                        Arithmetic::f32,
                        true},
                       random);
            check_case({{random_taps(random, radius), {}},
                        {mode, 7.25},
                        image,
                        out,
                        1,
                        from,
                        PixelType::f32,
                        Arithmetic::f32,
                        true},
                       random);
          }
        }
      }
    }
  }
}

TEST_CASE("convolve_host has the reference's bits: several strips of columns") {
  Random random(5);
  for (const std::int64_t channels : {1, 3}) {
    const Extent image{11, 9001};
    for (const Rect& out : {Rect::whole(image), Rect{2, 5, 7, 8990}}) {
      check_case({{random_taps(random, 4), random_taps(random, 3)},
                  {BorderMode::reflect101, 0},
                  image,
                  out,
                  channels,
                  PixelType::u8,
                  PixelType::f32,
                  Arithmetic::f32,
                  false},
                 random);
      for (const PixelType type : {PixelType::u8, PixelType::f32}) {
        check_case({{{}, random_taps(random, 3)},
                    {BorderMode::replicate, 0},
                    image,
                    out,
                    channels,
                    type,
                    type,
                    Arithmetic::f32,
                    false},
                   random);
      }
      check_case({{random_taps(random, 9), random_taps(random, 3), true},
                  {random_choice(random, kBorderModes), 4.5},
                  image,
                  out,
                  channels,
                  PixelType::f32,
                  PixelType::i16,
                  Arithmetic::f32,
                  false},
                 random);
    }
  }
}

TEST_CASE("convolve_host has the reference's bits: many taps along rows of any length") {
  Random random(15);
  // Taps in groups of 2 and 4 and the remainder, around blocks of vectors.
  for (const std::int64_t cols : {180, 204, 205, 255, 256, 257, 320, 511, 512, 513, 1000, 1023, 1025, 4097}) {
    for (const std::int64_t radius : {1, 2, 3, 4, 9, 10, 16, 40}) {
      const Extent image{random_between(random, 1, 6), cols};
      Rect out = Rect::whole(image);
      if (random_between(random, 0, 1) == 0)
        out = {0, random_between(random, 0, 2 * radius), image.rows, cols - 3 * radius};
      SeparableTaps taps{random_taps(random, radius), {}};
      if (random_between(random, 0, 2) > 0) taps.col = random_taps(random, 1);
      const Border border{random_choice(random, kBorderModes), 3};
      const PixelType from =
          random_between(random, 0, 1) == 0 ? PixelType::f32 : random_choice(random, kPixelTypes);
      check_case({taps, border, image, out, 1, from, random_choice(random, kPixelTypes),
                  random_choice(random, kArithmetics), random_between(random, 0, 3) == 0},
                 random);
    }
  }
}

TEST_CASE("convolve_host has the reference's bits: stores that pass the caches") {
  Random random(16);
  for (const std::int64_t cols : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 4095, 4097, 9001}) {
    for (const std::int64_t channels : {1, 3}) {
      for (const PixelType to : {PixelType::f32, PixelType::f64, PixelType::u8}) {
        const Extent image{random_between(random, 1, 19), cols};
        const Arithmetic arithmetic = to == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
        const SeparableTaps taps{random_taps(random, 1), random_taps(random, random_between(random, 0, 5))};
        check_case(
            {taps, {BorderMode::reflect, 0}, image, Rect::whole(image), channels, to, to, arithmetic, false},
            random, RowAlignment::same_columns);
      }
    }
  }
}

TEST_CASE("columns first is the convolution of the transposed image, to the bit") {
  Random random(8);
  for (int i = 0; i < 80; ++i) {
    ConvolutionCase c = random_case(random, 24, 6);
    c.taps.columns_first = true;
    const SeparableTaps transposed_taps = c.taps.transposed();
    REQUIRE(!transposed_taps.columns_first);
    Image image(c.image, c.channels, c.from, 0);
    fill_random(image.view, random, false);
    const Extent transposed_extent{c.image.cols, c.image.rows};
    Image transposed_image(transposed_extent, c.channels, c.from, 0);
    transpose_pixels(image.view, transposed_image.view);
    Image result(c.image, c.channels, c.to, 0), transposed_result(transposed_extent, c.channels, c.to, 0),
        expected(c.image, c.channels, c.to, 0);
    convolve_reference(c.taps, c.border, Region::whole(image.view), Region::whole(result.view), c.arithmetic);
    convolve_reference(transposed_taps, c.border, Region::whole(transposed_image.view),
                       Region::whole(transposed_result.view), c.arithmetic);
    transpose_pixels(transposed_result.view, expected.view);
    INFO(c);
    REQUIRE(differing_elements(expected.view, result.view) == 0);
  }
}

TEST_CASE("convolve_host has the reference's bits: a radius that outgrows the second cache") {
  Random random(6);
  const Extent image{1300, 300};
  check_case({{{}, random_taps(random, 600)},
              {BorderMode::reflect, 0},
              image,
              {10, 20, 40, 270},
              1,
              PixelType::u16,
              PixelType::u16,
              Arithmetic::f64,
              false},
             random);
}

TEST_CASE("an impulse returns the taps, in order, reversed as correlation does") {
  Image image({5, 7}, 1, PixelType::f32, 0);
  image.fill_bytes(0);
  image.view.row<float>(2)[3] = 1;
  Image out({5, 7}, 1, PixelType::f32, 0);
  const SeparableTaps taps{{1, 2, 3, 4, 5}, {10, 20, 30}};
  Worker worker(Buffer(convolve_scratch_bytes(taps, {5, 7}, 1, Arithmetic::f32)));
  convolve_host(taps, {BorderMode::constant, 0}, ConstRegion::whole(image.view), Region::whole(out.view),
                Arithmetic::f32, worker);
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t col = 0; col < 7; ++col) {
      const std::int64_t row_tap = 2 - (col - 3);
      const std::int64_t col_tap = 1 - (row - 2);
      const bool inside = row_tap >= 0 && row_tap < 5 && col_tap >= 0 && col_tap < 3;
      const double expected = inside ? taps.row[std::size_t(row_tap)] * taps.col[std::size_t(col_tap)] : 0;
      CHECK(out.view.row<float>(row)[col] == expected);
    }
  }
}

TEST_CASE("a pass left out keeps -0, a pass of one tap does not") {
  Image image({1, 1}, 1, PixelType::f32);
  Image out({1, 1}, 1, PixelType::f32);
  image.view.row<float>(0)[0] = -0.0f;
  const auto sign_after = [&](const SeparableTaps& taps) {
    Worker worker(Buffer(convolve_scratch_bytes(taps, {1, 1}, 1, Arithmetic::f32)));
    convolve_host(taps, {}, ConstRegion::whole(image.view), Region::whole(out.view), Arithmetic::f32, worker);
    return std::signbit(out.view.row<float>(0)[0]);
  };
  CHECK(sign_after({}));
  CHECK_FALSE(sign_after({{1}, {}}));
  CHECK_FALSE(sign_after({{}, {1}}));
}

TEST_CASE("scratch for a tile does for every smaller tile") {
  for (const std::int64_t radius : {0, 1, 8, 80, 1000}) {
    const SeparableTaps taps{std::vector<double>(3), std::vector<double>(std::size_t(2 * radius + 1))};
    for (const std::int64_t channels : {1, 3, 700}) {
      std::int64_t previous = 0;
      for (std::int64_t cols = 1; cols < 3000; cols += 7) {
        const std::int64_t bytes =
            convolve_scratch_bytes(taps, {cols % 20 + 1, cols}, channels, Arithmetic::f32);
        CHECK(bytes <= convolve_scratch_bytes(taps, {20, cols}, channels, Arithmetic::f32));
        const std::int64_t full = convolve_scratch_bytes(taps, {20, cols}, channels, Arithmetic::f32);
        CHECK(previous <= full);
        CHECK(convolve_scratch_bytes(taps, {20, cols}, channels, Arithmetic::f32, {5, cols}) <= full);
        previous = full;
      }
    }
  }
}

TEST_CASE("many channels take narrow strips, not large scratch") {
  const SeparableTaps taps{std::vector<double>(181), std::vector<double>(181)};
  CHECK(convolve_scratch_bytes(taps, {512, 1000}, 1000, Arithmetic::f32) < 3 << 20);
  CHECK(convolve_scratch_bytes(taps, {512, 1000}, 4, Arithmetic::f64) < 2 << 20);
}

TEST_CASE("convolution refuses what it cannot do") {
  Image image({4, 4}, 1, PixelType::u8);
  Image out({4, 4}, 1, PixelType::u8);
  Image two_channels({4, 4}, 2, PixelType::u8);
  Worker worker(Buffer(1 << 20));
  const auto in = ConstRegion::whole(image.view);
  const auto convolve = [&](const SeparableTaps& taps, const ConstRegion& from, const Region& to) {
    convolve_host(taps, {}, from, to, Arithmetic::f32, worker);
  };
  CHECK_THROWS_AS(convolve({{1, 2}, {}}, in, Region::whole(out.view)), InvalidArgument);
  CHECK_THROWS_AS(convolve({{}, {1, NAN, 2}}, in, Region::whole(out.view)), InvalidArgument);
  CHECK_THROWS_AS(convolve({{}, {}}, in, Region::whole(two_channels.view)), InvalidArgument);
  CHECK_THROWS_AS(convolve({{}, {1, 1, 1}}, in.crop({0, 0, 2, 4}), Region::whole(out.view)), InvalidArgument);
  CHECK_NOTHROW(convolve({{}, {1, 1, 1}}, in.crop({0, 0, 3, 4}), Region::whole(out.view).crop({0, 0, 2, 4})));

  const auto wrap = [&](const Region& to) {
    convolve_host({{1, 1, 1}, {}}, {BorderMode::wrap, 0}, in, to, Arithmetic::f32, worker);
  };
  CHECK_NOTHROW(wrap(Region::whole(out.view).crop({0, 1, 4, 2})));
  CHECK_THROWS_AS(wrap(Region::whole(out.view)), InvalidArgument);
}
