// window_cuda against the reference, bit for bit (NaN equals NaN), frames around the images included.
#include "sepconv/core/error.hpp"
#include "window_cuda_case.hpp"

using namespace sepconv;

TEST_CASE("window_cuda has the reference's bits: random images, types, operations, borders", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(61);
  for (int i = 0; i < 400; ++i) check_device(random_window_case(random, 24, 6), random);
  for (int i = 0; i < 100; ++i) check_device(random_window_case(random, 300, 90), random);
}

TEST_CASE("window_cuda has the reference's bits: windows around powers of two, segments, blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(62);
  for (const std::int64_t radius : {1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 500, 1000, 2047}) {
    for (const bool down : {false, true}) {
      WindowCase c = random_window_case(random, 20, 1);
      c.window.radius_x = down ? 0 : radius, c.window.radius_y = down ? radius : 0;
      c.image = down ? Extent{1500, 37} : Extent{5, 2300};
      c.out = Rect::whole(c.image);
      check_device(c, random);
    }
  }
}

TEST_CASE("window_cuda of more rows than a grid has blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(63);
  WindowCase c = random_window_case(random, 20, 3);
  c.image = {140000, 2}, c.out = Rect::whole(c.image);
  check_device(c, random);
}

TEST_CASE("window_cuda on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(64);
  for (int i = 0; i < 24; ++i) check_device(random_window_case(random, 60, 20), random);
}

TEST_CASE("window_cuda refuses radii that no block has room for", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Image image({4, 4}, 1, PixelType::u8);
  Arena arena;
  const Stream stream;
  CHECK_THROWS_AS(window_cuda({.radius_x = kMostDeviceWindowRadius + 1}, {}, ConstRegion::whole(image.view),
                              Region::whole(image.view), Arithmetic::f32, arena, stream.get()),
                  InvalidArgument);
}
