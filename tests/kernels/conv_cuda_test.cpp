// convolve_device against convolve_reference, bit for bit (NaN equals NaN), with poison around input and
// result.
#include "conv_cuda_case.hpp"

TEST_CASE("convolve_device has the reference's bits: random small images", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(41);
  for (int i = 0; i < 600; ++i) check_case(random_case(random, 24, 6), random);
}

TEST_CASE("convolve_device has the reference's bits: radii up to and beyond the image", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(42);
  for (int i = 0; i < 100; ++i) check_case(random_case(random, 70, 40), random);
  for (int i = 0; i < 40; ++i) check_case(random_case(random, 9, 300), random);
}

TEST_CASE("convolve_device has the reference's bits: every pair of types, border and arithmetic", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(43);
  const Extent image{19, 37};
  for (const PixelType from : kPixelTypes) {
    for (const PixelType to : kPixelTypes) {
      for (const BorderMode mode : kBorderModes) {
        for (const Arithmetic arithmetic : kArithmetics) {
          ConvolutionCase c =
              whole_case(random_pair(random, 3, 2), {mode, 7.25}, image, 2, from, to, arithmetic);
          c.special = true;
          check_case(c, random);
        }
      }
    }
  }
}

TEST_CASE("convolve_device has the reference's bits: sizes around the kernels' tiles", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(44);
  for (const std::int64_t cols : {1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049}) {
    for (const std::int64_t rows : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
      check_case(random_whole_case(random, random_pair(random, 2, 1), {rows, cols}, 1,
                                   random_choice(random, kArithmetics)),
                 random);
    }
  }
  for (const std::int64_t rows : {255, 256, 257, 2047, 2048, 2049}) {
    check_case(random_whole_case(random, random_pair(random, 1, 20), {rows, 3}, 1,
                                 random_choice(random, kArithmetics)),
               random);
  }
}

TEST_CASE("convolve_device has the reference's bits: every number of taps around a thread's window",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(45);
  for (std::int64_t radius = 0; radius <= 36; ++radius) {
    for (const Arithmetic arithmetic : kArithmetics) {
      check_case(random_whole_case(random, random_pair(random, radius, radius), {70, 90}, 1, arithmetic),
                 random);
    }
  }
  // Around 256 taps, whose inputs the row pass stages in one step.
  for (const std::int64_t radius : {126, 127, 128, 129, 255, 256}) {
    for (const Arithmetic arithmetic : kArithmetics) {
      check_case(random_whole_case(random, random_pair(random, radius, 1), {6, 2300}, 1, arithmetic), random);
    }
  }
}

TEST_CASE("convolve_device has the reference's bits: numbers of channels", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(46);
  for (const std::int64_t channels :
       {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300}) {
    for (const Arithmetic arithmetic : kArithmetics) {
      check_case(random_whole_case(random, random_pair(random, 2, 1), {5, 40}, channels, arithmetic), random);
      check_case(random_whole_case(random, random_pair(random, 35, 3), {3, 21}, channels, arithmetic),
                 random);
    }
  }
}

TEST_CASE("convolve_device has the reference's bits: taps around and beyond what a launch takes by value",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(47);
  for (const std::int64_t count : {999, 1001, 1003, 1005, 2003, 2501}) {
    for (const std::int64_t channels : {1, 3, 257}) {
      for (const Arithmetic arithmetic : kArithmetics) {
        const Extent image = channels > 3 ? Extent{3, 5} : Extent{20, 300};
        check_case(
            random_whole_case(random, random_pair(random, count / 2, count / 2), image, channels, arithmetic),
            random);
      }
    }
  }
}

TEST_CASE("convolve_device has the reference's bits: parts of an image, with their halo only", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(48);
  const Extent image{203, 611};
  for (int i = 0; i < 60; ++i) {
    ConvolutionCase c = random_whole_case(
        random, random_pair(random, random_between(random, 0, 30), random_between(random, 0, 30)), image,
        random_between(random, 1, 3), random_choice(random, kArithmetics));
    c.out.rows = random_between(random, 1, 80);
    c.out.cols = random_between(random, 1, 200);
    // One third at the top edge, one third at the right edge.
    c.out.row = i % 3 == 0 ? 0 : random_between(random, 0, image.rows - c.out.rows);
    c.out.col = i % 3 == 1 ? image.cols - c.out.cols : random_between(random, 0, image.cols - c.out.cols);
    check_case(c, random);
  }
}

TEST_CASE("what follows a convolution in one launch has the bits of steps", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(49);
  for (int i = 0; i < 300; ++i) {
    const ConvolutionCase c = random_case(random, 40, 9);
    Epilogue epilogue;
    if (i % 3 > 0) epilogue.join = random_binary_op(random);
    epilogue.other = random_choice(random, kPixelTypes);
    epilogue.then = random_unary_ops(random, kMaxFusedOps);
    check_case(c, random, epilogue);
  }
}

TEST_CASE("convolution kernels on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(50);
  check_case(whole_case(random_pair(random, 2, 2), {BorderMode::reflect, 0}, {20, 90}, 3, PixelType::u8,
                        PixelType::u8, Arithmetic::f32),
             random);
  for (const Arithmetic arithmetic : kArithmetics) {
    for (const std::int64_t channels : {1, 3, 257}) {
      for (const std::int64_t radius : {5, 501}) {  // 1003 taps exceed the limit of a launch's parameters
        const Extent image = radius > 5 ? Extent{9, 30} : Extent{37, 150};
        ConvolutionCase c =
            random_whole_case(random, random_pair(random, radius, radius), image, channels, arithmetic);
        if (radius == 5) c.out = {3, 4, 30, 101};
        const Epilogue epilogue{random_binary_op(random), PixelType::u8, random_unary_ops(random, 3)};
        check_case(c, random, epilogue);
      }
    }
    check_case(random_whole_case(random, {{}, random_taps(random, 2)}, {20, 70}, 2, arithmetic), random);
    // Several strips and steps of the fused kernel: a tap count known at compile time, a tap count known at
    // run time, and the tall shape; loads of one element and of four.
    for (const std::int64_t radius : {2, 21, 40}) {
      for (const PixelType from : {PixelType::u8, PixelType::i16, PixelType::f32}) {
        check_case(whole_case(random_pair(random, radius, radius), {BorderMode::reflect101, 0}, {45, 420}, 1,
                              from, from, arithmetic),
                   random);
      }
    }
    check_case(random_whole_case(random, {random_taps(random, 300), {}}, {4, 2100}, 1, arithmetic), random);
  }
}

TEST_CASE("convolve_device has the reference's bits: more rows than a grid has", "[gpu][slow]") {
  SEPCONV_NEEDS_GPU();
  Random random(51);
  constexpr std::int64_t kGridRows = 65535;
  for (const Arithmetic arithmetic : kArithmetics) {
    // A block has 4 groups of 16 rows in f32 or of 8 rows in f64.
    const std::int64_t rows = kGridRows * 4 * (arithmetic == Arithmetic::f32 ? 16 : 8) + 77;
    check_case(whole_case(random_pair(random, 1, 2), {BorderMode::reflect, 0}, {rows, 2}, 1, PixelType::u8,
                          PixelType::u8, arithmetic),
               random);
  }
}

TEST_CASE("convolve_device refuses what it cannot do", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Stream stream;
  Image image({4, 4}, 1, PixelType::u8);
  Image two_channels({4, 4}, 2, PixelType::u8);
  image.fill_bytes(1);
  two_channels.fill_bytes(1);
  const DeviceImage in(image.view, stream.get());
  const DeviceImage out(image.view, stream.get());
  const DeviceImage wide(two_channels.view, stream.get());
  Arena arena(Buffer(1 << 20, device_resource()));
  const auto convolve = [&](const SeparableTaps& taps, const PixelView& from, const PixelView& to,
                            const ConvolutionEpilogue& epilogue = {}) {
    convolve_device(taps, {}, ConstRegion::whole(from), Region::whole(to), Arithmetic::f32, arena,
                    stream.get(), epilogue);
  };
  CHECK_THROWS_AS(convolve({{1, 2}, {}}, in.view(), out.view()), InvalidArgument);
  CHECK_THROWS_AS(convolve({{}, {1, NAN, 2}}, in.view(), out.view()), InvalidArgument);
  CHECK_THROWS_AS(convolve({{}, {}}, in.view(), wide.view()), InvalidArgument);
  const PointwiseOp sum{PointwiseOp::Kind::sum}, product{PointwiseOp::Kind::product};
  CHECK_THROWS_AS(convolve({{1}, {1}}, in.view(), out.view(), {.join = &sum, .other = wide.view()}),
                  InvalidArgument);
  CHECK_THROWS_AS(convolve({{1}, {1}}, in.view(), out.view(), {.join = &product, .other = in.view()}),
                  InvalidArgument);
  const std::vector<PointwiseOp> many(kMaxFusedOps + 1);
  CHECK_THROWS_AS(convolve({{1}, {1}}, in.view(), out.view(), {.then = many}), InvalidArgument);
  CHECK(arena.used_bytes() == 0);
  CHECK_NOTHROW(convolve({{1}, {1}}, in.view(), out.view()));
  stream.synchronize();
}
