// window_device against window_host, bit for bit (NaN equals NaN), including the frames around the images.
#include "core/error.hpp"
#include "sliding_window_cuda_case.hpp"

using namespace sepconv;

TEST_CASE("window_device has the reference's bits: random images, types, operations, borders", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(61);
  for (int i = 0; i < 400; ++i) check_device(random_window_case(random, 24, 6), random);
  for (int i = 0; i < 100; ++i) check_device(random_window_case(random, 300, 90), random);
}

TEST_CASE("window_device has the reference's bits: windows around powers of two, segments, blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(62);
  for (const std::int64_t radius : {1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 500, 1000, 2047}) {
    for (const bool vertical : {false, true}) {
      WindowCase c = random_window_case(random, 20, 1);
      c.window.radius_x = vertical ? 0 : radius, c.window.radius_y = vertical ? radius : 0;
      c.image = vertical ? Extent{1500, 37} : Extent{5, 2300};
      c.out = Rect::whole(c.image);
      check_device(c, random);
    }
  }
}

TEST_CASE(
    "window_device has the reference's bits: on both sides of what takes one pass, strips, borders, channels",
    "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(65);
  // Widths around a strip and around a row's segment, heights around a segment, images smaller than a window.
  for (const std::int64_t cols : {3, 31, 112, 127, 128, 129, 255, 257, 1030, 2049}) {
    for (const std::int64_t radius : {1, 2, 4, 5, 8, 9, 12, 13, 25}) {
      for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::i16, PixelType::f32}) {
        WindowCase c = random_window_case(random, 20, 1);
        c.window.radius_x = c.window.radius_y = radius;
        c.image = {random_between(random, 1, 150), cols}, c.out = Rect::whole(c.image);
        c.from = c.to = type, c.channels = random_between(random, 1, 4);
        check_device(c, random);
      }
    }
  }
}

TEST_CASE("window_device has the reference's bits: columns first, of sums of sums", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(66);
  for (const std::int64_t radius : {1, 7, 30, 200, 1000}) {
    for (const Window::Of of : {Window::Of::values, Window::Of::squares, Window::Of::ones}) {
      WindowCase c = random_window_case(random, 20, 1);
      c.window.op = Window::Op::sum, c.window.of = of, c.window.columns_first = true;
      c.window.radius_x = radius, c.window.radius_y = radius / 2 + 1;
      c.image = {150, 260}, c.out = {10, 20, 130, 200};
      check_device(c, random);
    }
  }
}

TEST_CASE("window_device has the reference's bits: rows that begin and end where vectors do", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(67);
  for (const std::int64_t radius : {1, 4, 8, 40}) {
    for (const PixelType type : kPixelTypes) {
      WindowCase c = random_window_case(random, 20, 1);
      c.window.radius_x = c.window.radius_y = radius;
      // With the frame of one pixel on each side, rows are or are not a multiple of a vector.
      c.image = {90, type == PixelType::f64 ? 1022 : 1021}, c.out = Rect::whole(c.image);
      c.from = c.to = type, c.channels = 1;
      check_device(c, random);
    }
  }
}

TEST_CASE("Device bytes of windows: none where one pass makes them, a plane between two") {
  const auto bytes = [](std::int64_t radius_x, std::int64_t radius_y, Window::Op op, Arithmetic arithmetic) {
    return window_device_bytes({.op = op, .radius_x = radius_x, .radius_y = radius_y}, {100, 200}, 1,
                               arithmetic, {1000, 1000});
  };
  CHECK(bytes(8, 8, Window::Op::minimum, Arithmetic::f32) == 0);
  CHECK(bytes(8, 8, Window::Op::sum, Arithmetic::f32) == 0);
  CHECK(bytes(500, 0, Window::Op::sum, Arithmetic::f32) == 0);
  CHECK(bytes(0, 500, Window::Op::minimum, Arithmetic::f64) == 0);
  CHECK(bytes(32, 32, Window::Op::minimum, Arithmetic::f32) ==
        Arena::view_bytes({164, 200}, 1, PixelType::f32));
  CHECK(bytes(8, 8, Window::Op::sum, Arithmetic::f64) == Arena::view_bytes({116, 200}, 1, PixelType::f64));
}

TEST_CASE("window_device of more rows than a grid has blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(63);
  WindowCase c = random_window_case(random, 20, 3);
  c.image = {140000, 2}, c.out = Rect::whole(c.image);
  check_device(c, random);
}

TEST_CASE("window_device on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(64);
  for (int i = 0; i < 24; ++i) check_device(random_window_case(random, 60, 20), random);
}

TEST_CASE("window_device refuses radii that exceed a block's shared memory", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Image image({4, 4}, 1, PixelType::u8);
  Arena arena;
  const Stream stream;
  CHECK_THROWS_AS(window_device({.radius_x = kMaxDeviceWindowRadius + 1}, {}, ConstRegion::whole(image.view),
                                Region::whole(image.view), Arithmetic::f32, arena, stream.get()),
                  InvalidArgument);
}
