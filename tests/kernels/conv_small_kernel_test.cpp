// The path for few taps on integers (small_kernel_fused-inl.h) against convolve_reference, bit for bit.
#include <catch2/catch.hpp>
#include <cmath>

#include "conv_host_case.hpp"
#include "kernels/conv/small_kernel_fused.hpp"
#include "kernels/conv/taps.hpp"

using namespace sepconv;

namespace {

constexpr PixelType kIntegers[] = {PixelType::u8, PixelType::u16, PixelType::i16};

ConvolutionCase case_of(const SeparableTaps& taps, const Border& border, Extent image, const Rect& out,
                        std::int64_t channels, PixelType type) {
  return {taps, border, image, out, channels, type, type, Arithmetic::f32, false};
}

bool fits(const ConvolutionCase& c, bool past_caches = false) {
  Image in(needed_rect(c).extent(), c.channels, c.from), out(c.out.extent(), c.channels, c.to);
  return supports_small_kernel(c.taps, c.border, {in.view, needed_rect(c), c.image},
                               {out.view, c.out, c.image, past_caches});
}

/// Checks the case, and whether the small-kernel path supports it. The path exists only on AVX3.
void check_small_kernel(const ConvolutionCase& c, Random& random, bool expected = true) {
  INFO(c);
  REQUIRE(fits(c, true) == expected);
  check_case(c, random);
  check_case(c, random, RowAlignment::same_columns);
}

SeparableTaps random_square(Random& random, std::int64_t radius) {
  return {random_taps(random, radius), random_taps(random, radius)};
}

/// Pixels for which binomial taps often yield halves, and the minimum and maximum values.
void fill_steps(const PixelView& view) {
  visit_pixel_type(view.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < view.extent.rows; ++row) {
      for (std::int64_t i = 0; i < view.row_elements(); ++i)
        view.row<T>(row)[i] = static_cast<T>((row * 7 + i * i) % 11 < 5 ? -1 : i + row);
    }
  });
}

}  // namespace

TEST_CASE("few by few taps have the reference's bits: channels, types, radii and borders") {
  Random random(21);
  for (const PixelType type : kIntegers) {
    for (const std::int64_t channels : {1, 2, 3, 4, 5, 8}) {
      for (const std::int64_t radius : {1, 2, 3, 4, 5}) {
        for (const BorderMode mode : kBorderModes) {
          const Extent image{random_between(random, 1, 150), random_between(random, 64, 300)};
          const bool expected = radius * channels <= 32 && (channels > 1 || radius <= 3);
          check_small_kernel(
              case_of(random_square(random, radius), {mode, 7}, image, Rect::whole(image), channels, type),
              random, expected);
        }
      }
    }
  }
}

TEST_CASE("few by few taps have the reference's bits: parts of an image, sizes around blocks") {
  Random random(22);
  for (const std::int64_t cols : {64, 65, 66, 67, 68, 127, 128, 129, 130, 191, 192, 700}) {
    for (const std::int64_t rows : {1, 2, 3, 15, 16, 17, 33, 63, 64, 65, 66}) {
      const Extent image{rows, cols + 20};
      const std::int64_t first = random_between(random, 0, rows - 1);
      const Rect out{first, random_between(random, 0, 20), random_between(random, 1, rows - first), cols};
      check_small_kernel(case_of(random_square(random, random_between(random, 1, 3)),
                                 {random_choice(random, kBorderModes), 0}, image, out,
                                 random_between(random, 1, 4), random_choice(random, kIntegers)),
                         random);
    }
  }
}

TEST_CASE("few by few taps have the reference's bits: a border that repeats, beyond a part's edges") {
  Random random(23);
  const Extent image{40, 90};
  check_small_kernel(
      case_of(random_square(random, 2), {BorderMode::wrap, 0}, image, {2, 2, 36, 86}, 3, PixelType::u8),
      random);
}

TEST_CASE("few by few taps have the reference's bits: images narrower than their halo") {
  Random random(24);
  for (const std::int64_t cols : {1, 2, 3, 8}) {
    for (const BorderMode mode : kBorderModes) {
      const std::int64_t channels = ceil_div(64, cols);
      const Extent image{random_between(random, 1, 20), cols};
      check_small_kernel(
          case_of(random_square(random, 1), {mode, 3}, image, Rect::whole(image), channels, PixelType::u8),
          random, channels <= 32);
    }
  }
}

TEST_CASE("few by few taps round halves to even and saturate") {
  const Extent image{70, 500};
  for (const PixelType type : kIntegers) {
    for (const std::int64_t radius : {1, 2, 3}) {
      for (const double factor : {1.0, -1.0, 0.5, 3.0}) {
        SeparableTaps taps{binomial_taps(radius), binomial_taps(radius)};
        for (double& tap : taps.row) tap *= factor;
        Image in(image, 3, type), expected(image, 3, type), actual(image, 3, type);
        fill_steps(in.view);
        const ConstRegion source = ConstRegion::whole(in.view);
        REQUIRE(supports_small_kernel(taps, {}, source, Region::whole(actual.view)));
        convolve_reference(taps, {}, source, Region::whole(expected.view), Arithmetic::f32);
        Worker worker(Buffer(convolve_scratch_bytes(taps, image, 3, Arithmetic::f32)));
        convolve_host(taps, {}, source, Region::whole(actual.view), Arithmetic::f32, worker);
        INFO(name_of(type) << ", radius " << radius << ", factor " << factor);
        CHECK(differing_elements(expected.view, actual.view) == 0);
      }
    }
  }
}

TEST_CASE("few taps that could leave 32-bit integers, or a constant that is not a pixel, go another way") {
  Random random(25);
  const Extent image{20, 100};
  const auto check = [&](const SeparableTaps& taps, const Border& border, bool expected,
                         PixelType type = PixelType::u8) {
    check_small_kernel(case_of(taps, border, image, Rect::whole(image), 3, type), random, expected);
  };
  const std::vector<double> third{1, 1, 1};
  for (const PixelType type : kIntegers) {
    for (const double large : {2e4, 1e8, 1e30, 1e38}) {
      const bool expected = large == 2e4 && type == PixelType::u8;
      check({{0, large, 0}, {0, 1, 0}}, {}, expected, type);
      check({{0, 1, 0}, {0, -large, 0}}, {}, expected, type);
      check({{large, large, -large}, {0, 1 / large, 0}}, {}, expected, type);
      check({{1 / large, 0, 0}, {large, large, -large}}, {}, expected, type);
    }
  }
  check({{0, 1e5, 0}, {0, 1, 0}}, {}, true);
  for (const double value : {0.0, 255.0, -0.0}) check({third, third}, {BorderMode::constant, value}, true);
  for (const double value : {0.5, -1.0, 256.0, 1e300, double(NAN), double(INFINITY)})
    check({third, third}, {BorderMode::constant, value}, false);
  check({third, third}, {BorderMode::reflect, 0.5}, true);
  check({third, third, true}, {}, false);
  check({third, {1, 1, 1, 1, 1}}, {}, false);
  check({third, {}}, {}, false);
  check({{1}, {1}}, {}, false);
}

TEST_CASE("where a result stays in the caches few taps are fewer") {
  Random random(26);
  const Extent image{20, 100};
  for (const std::int64_t radius : {3, 4}) {
    const ConvolutionCase c =
        case_of(random_square(random, radius), {}, image, Rect::whole(image), 3, PixelType::u8);
    CHECK(fits(c, false) == (radius == 3));
    CHECK(fits(c, true));
  }
}
