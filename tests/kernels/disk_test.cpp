// Disk-shaped windows of window_host: the reference's bits, and the pixels of a disk.
#include "kernels/sliding_window/disk.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "sliding_window_check_case.hpp"

using namespace sepconv;

TEST_CASE("Disks have the reference's bits: random small images") {
  Random random(1);
  for (int i = 0; i < 300; ++i) check_case(random_disk_case(random, 24, 6), random);
}

TEST_CASE("Disks have the reference's bits: radii up to and beyond the image") {
  Random random(2);
  for (int i = 0; i < 15; ++i) check_case(random_disk_case(random, 40, 50), random);
}

TEST_CASE("Disks have the reference's bits: every pair of types") {
  Random random(3);
  for (const PixelType from : kPixelTypes) {
    for (const PixelType to : kPixelTypes) {
      for (const Window::Op op : {Window::Op::minimum, Window::Op::maximum}) {
        for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
          WindowCase c = random_disk_case(random, 30, 4);
          c.from = from, c.to = to, c.arithmetic = arithmetic, c.special = true;
          c.window.op = op;
          check_case(c, random);
        }
      }
    }
  }
}

TEST_CASE("Disks have the reference's bits where the region is cut into strips") {
  Random random(4);
  for (const std::int64_t radius_x : {0, 3, 40}) {
    WindowCase c = random_disk_case(random, 20, 0);
    c.window.radius_x = radius_x, c.window.radius_y = 60;
    c.image = {8, 900}, c.out = {2, 5, 4, 890};
    c.channels = 1, c.from = PixelType::f64, c.arithmetic = Arithmetic::f64;
    REQUIRE(2 * DiskSizes(c.window, c.out.extent(), 1, sizeof(double)).strip_cols < c.out.cols);
    check_case(c, random);
  }
}

TEST_CASE("A disk has the pixels up to its radius from the middle") {
  for (std::int64_t x = 0; x <= 70; ++x) {
    for (const std::int64_t y : {x, x / 3, 2 * x + 1}) {
      const Window window{.radius_x = x, .radius_y = y, .shape = Window::Shape::disk};
      for (std::int64_t row_offset = -y; row_offset <= y; ++row_offset) {
        const std::int64_t half = chord_of(window, row_offset).half;
        const auto ellipse_excess =
            [&](std::int64_t col_offset) {  // x^2 y^2 times ((right / x)^2 + (down / y)^2 - 1)
              return col_offset * col_offset * y * y + row_offset * row_offset * x * x - x * x * y * y;
            };
        INFO(x << ", " << y << ", " << row_offset);
        REQUIRE((half <= x && ellipse_excess(half) <= 0 && (half == x || ellipse_excess(half + 1) > 0)));
      }
    }
  }
  for (const std::int64_t radius : {std::int64_t{1}, kMaxDiskRadius}) {
    const Window window{.radius_x = radius, .radius_y = radius, .shape = Window::Shape::disk};
    CHECK(chord_of(window, 0).half == radius);
    CHECK(chord_of(window, -radius).half == 0);
  }
}

TEST_CASE("What is not a disk is refused, in every build") {
  Image image({4, 4}, 1, PixelType::u8);
  Worker worker;
  const auto run = [&](const Window& window) {
    window_host(window, {}, ConstRegion::whole(image.view), Region::whole(image.view), Arithmetic::f32,
                worker);
  };
  constexpr Window::Shape kDisk = Window::Shape::disk;
  CHECK_THROWS_AS(run({.op = Window::Op::sum, .radius_x = 1, .shape = kDisk}), InvalidArgument);
  CHECK_THROWS_AS(run({.radius_x = kMaxDiskRadius + 1, .shape = kDisk}), InvalidArgument);
}
