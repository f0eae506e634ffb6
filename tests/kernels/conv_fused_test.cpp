// The fused kernel of convolve_device on cases that the other tests do not cover.
#include "conv_cuda_case.hpp"

TEST_CASE("the fused kernel has the reference's bits: strips, segments and alignments", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(52);
  for (int i = 0; i < 150; ++i) {
    // Radii of the kernels with a compile-time tap count, of those with a run-time tap count, and of the tall
    // shape.
    const std::int64_t max_radius = i % 3 == 0 ? 16 : i % 3 == 1 ? 32 : 95;
    const std::int64_t radius = random_between(random, 0, max_radius);
    const std::int64_t col_radius = i % 2 == 0 ? radius : random_between(random, 0, max_radius);
    const Extent image{random_between(random, 1, 400), random_between(random, 1, 900)};
    const std::int64_t channels = i % 5 == 0 ? random_between(random, 2, 16) : 1;
    ConvolutionCase c = random_whole_case(random, random_pair(random, radius, col_radius), image, channels,
                                          random_choice(random, kArithmetics));
    if (i % 4 == 0) {  // a part of the image, so that rows start at any alignment
      c.out.row = random_between(random, 0, image.rows - 1),
      c.out.rows = random_between(random, 1, image.rows - c.out.row);
      c.out.col = random_between(random, 0, image.cols - 1),
      c.out.cols = random_between(random, 1, image.cols - c.out.col);
    }
    c.special = i % 7 == 0;
    check_case(c, random);
  }
}

TEST_CASE("the fused kernel has the reference's bits: images of colours", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(54);
  for (const std::int64_t channels : {3, 4}) {
    for (std::int64_t radius = 0; radius <= 9; ++radius) {
      for (const PixelType type : {PixelType::u8, PixelType::f32}) {
        const Extent image{random_between(random, 1, 60), random_between(random, 1, 300)};
        check_case(whole_case(random_pair(random, radius, radius), {random_choice(random, kBorderModes), 3},
                              image, channels, type, type, Arithmetic::f32),
                   random);
      }
    }
  }
}

TEST_CASE("the fused kernel has the reference's bits: short filters over bytes", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(55);
  for (const std::int64_t channels : {1, 3, 4}) {
    for (std::int64_t radius = 1; radius <= 4; ++radius) {
      for (const BorderMode mode : kBorderModes) {
        for (const double outside : {7.0, 2.5}) {  // 7 is a value of u8, 2.5 is not
          // Rows of whole words, shorter than a block or several blocks long.
          const Extent image{random_between(random, 1, 90), 8 * random_between(random, 4, 300)};
          SeparableTaps taps = random_pair(random, radius, radius);
          if (random_between(random, 0, 3) == 0) taps.row[0] = 1e-30;  // too small to be scaled
          check_case(whole_case(taps, {mode, outside}, image, channels, PixelType::u8, PixelType::u8,
                                Arithmetic::f32),
                     random);
        }
      }
    }
  }
}

TEST_CASE("the fused kernel has the reference's bits: results that take whole vectors", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(53);
  for (const PixelType type : kPixelTypes) {
    for (const Arithmetic arithmetic : kArithmetics) {
      const SeparableTaps taps = random_pair(random, 4, 3);
      const Image source({50, 640}, 1, type), expected({50, 640}, 1, type), actual({50, 640}, 1, type);
      fill_random(source.view, random, true);
      convolve_reference(taps, {}, ConstRegion::whole(source.view), Region::whole(expected.view), arithmetic);
      const Stream stream;
      const DeviceImage in(source.view, stream.get()), out(actual.view, stream.get());
      Arena arena(Buffer(convolve_device_bytes(taps, source.view.extent, 1, arithmetic), device_resource()));
      convolve_device(taps, {}, ConstRegion::whole(in.view()), Region::whole(out.view()), arithmetic, arena,
                      stream.get());
      out.download(actual.view, stream);
      INFO(name_of(type) << (arithmetic == Arithmetic::f32 ? " in f32" : " in f64"));
      REQUIRE(differing_elements(expected.view, actual.view) == 0);
    }
  }
}

TEST_CASE("the fused kernel says where it has room, and refuses elsewhere", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const std::vector<double> short_taps(5, 0.2), long_taps(2001, 0.1);
  CHECK(convolve_device_fits({short_taps, short_taps}, 1, PixelType::u8, Arithmetic::f32));
  CHECK(convolve_device_fits({short_taps, short_taps}, 3, PixelType::f64, Arithmetic::f64));
  CHECK_FALSE(convolve_device_fits({short_taps, {}}, 1, PixelType::u8, Arithmetic::f32));
  for (const SeparableTaps& taps :
       {SeparableTaps{short_taps, {}, true}, SeparableTaps{short_taps, long_taps, true},
        SeparableTaps{long_taps, short_taps, true}}) {
    CHECK(convolve_device_fits(taps, 1, PixelType::u8, Arithmetic::f32) ==
          convolve_device_fits(taps.transposed(), 1, PixelType::u8, Arithmetic::f32));
  }
  CHECK_FALSE(convolve_device_fits({short_taps, long_taps}, 1, PixelType::u8, Arithmetic::f32));
  CHECK_FALSE(convolve_device_fits({short_taps, short_taps}, 300, PixelType::u8, Arithmetic::f32));
  CHECK_FALSE(convolve_device_fits({short_taps, short_taps}, 1, PixelType::f64, Arithmetic::f32));
  const Stream stream;
  const Image host({4, 4}, 1, PixelType::u8);
  const DeviceImage image(host.view, stream.get());
  Arena arena(Buffer(0, device_resource()));
  CHECK_THROWS_AS(
      convolve_device(ConvolutionDesign::fused, {short_taps, long_taps}, {}, ConstRegion::whole(image.view()),
                      Region::whole(image.view()), Arithmetic::f32, arena, stream.get()),
      InvalidArgument);
}
