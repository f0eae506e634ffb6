// Disk-shaped windows of window_device have the host's bits, in tiles and in planes.
#include "core/error.hpp"
#include "kernels/sliding_window/disk_device.hpp"
#include "sliding_window_cuda_case.hpp"

using namespace sepconv;

namespace {

WindowCase disk_of(Random& random, std::int64_t radius_x, std::int64_t radius_y, Extent image) {
  WindowCase c = random_disk_case(random, 20, 1);
  c.window.radius_x = radius_x, c.window.radius_y = radius_y;
  c.image = image, c.out = Rect::whole(image);
  return c;
}

}  // namespace

TEST_CASE("Disks of window_device have the host's bits: random images, types, operations, borders", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(71);
  for (int i = 0; i < 400; ++i) check_device(random_disk_case(random, 24, 6), random);
  for (int i = 0; i < 100; ++i) check_device(random_disk_case(random, 300, 60), random);
  for (int i = 0; i < 10; ++i) check_device(random_disk_case(random, 300, 400), random);
}

TEST_CASE("Disks of window_device have the host's bits: every pair of types", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(72);
  for (const std::int64_t radius : {3, 80}) {
    for (const PixelType from : kPixelTypes) {
      for (const PixelType to : kPixelTypes) {
        for (const Arithmetic arithmetic : kArithmetics) {
          WindowCase c = random_disk_case(random, 150, radius);
          c.window.radius_x = radius;
          c.from = from, c.to = to, c.arithmetic = arithmetic, c.special = true;
          check_device(c, random);
        }
      }
    }
  }
}

TEST_CASE("Disks of window_device have the host's bits: radii around powers of two, tiles, parts", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(73);
  for (const std::int64_t radius :
       {1, 2, 3, 4, 7, 8, 15, 16, 24, 25, 31, 32, 40, 41, 63, 64, 128, 255, 256, 500}) {
    check_device(disk_of(random, radius, radius, {97, 130}), random);
    check_device(disk_of(random, 0, radius, {300, 37}), random);
    check_device(disk_of(random, radius, 0, {5, 330}), random);
    check_device(disk_of(random, radius, radius / 3, {70, 200}), random);
  }
  // More than one part of planes in each direction.
  check_device(disk_of(random, 70, 60, {1100, 40}), random);
  check_device(disk_of(random, 60, 70, {30, 2100}), random);
}

TEST_CASE("Disks of window_device of the largest radius, and of many channels", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(74);
  WindowCase c = disk_of(random, kMaxDiskRadius, kMaxDiskRadius, {40, 60});
  c.channels = 1;
  check_device(c, random);
  c = disk_of(random, 0, kMaxDiskRadius, {50, 9});
  check_device(c, random);
  for (const std::int64_t radius : {2, 20, 90}) {
    c = disk_of(random, radius, radius, {50, 60});
    c.channels = 17;
    check_device(c, random);
  }
}

TEST_CASE("Disks of window_device of more rows than a grid has blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(75);
  WindowCase c = disk_of(random, 2, 3, {2200000, 2});
  c.channels = 1, c.from = PixelType::f32, c.to = PixelType::u8;
  check_device(c, random);
}

TEST_CASE("Disks of window_device on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(76);
  for (int i = 0; i < 24; ++i) check_device(random_disk_case(random, 60, 20), random);
  for (int i = 0; i < 8; ++i) check_device(disk_of(random, 60 + i, 70 - 9 * i, {20, 30}), random);
}

TEST_CASE("Tiles of disks fit any GPU's shared memory, and planes are counted where they do not") {
  for (const std::int64_t radius : {1, 10, 30, 40, 41, 100, 254, 255, 256, 2047}) {
    for (const std::int64_t radius_y : {std::int64_t{0}, radius / 2, radius}) {
      const Window window{.radius_x = radius, .radius_y = radius_y, .shape = Window::Shape::disk};
      const DeviceDisk disk(window);
      for (const Arithmetic arithmetic : kArithmetics) {
        const std::int64_t bytes = size_of(pixel_type_of(arithmetic));
        INFO(radius << ", " << radius_y << ", " << bytes);
        CHECK((window_device_bytes(window, {100, 100}, 3, arithmetic) == 0) == disk.fits_tile(bytes));
        if (disk.fits_tile(bytes))
          CHECK(disk.tile_bytes(1, bytes) + DeviceDiskTuning::kTileInputRows * 8 <= 64 * 1024);
        CHECK(disk.reach[0] == radius_y);
        CHECK(disk.reach[static_cast<std::size_t>(disk.levels)] >= 0);
      }
    }
  }
}

TEST_CASE("window_device rejects invalid disks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Image image({4, 4}, 1, PixelType::u8);
  Arena arena;
  const Stream stream;
  CHECK_THROWS_AS(window_device({.radius_x = kMaxDiskRadius + 1, .shape = Window::Shape::disk}, {},
                                ConstRegion::whole(image.view), Region::whole(image.view), Arithmetic::f32,
                                arena, stream.get()),
                  InvalidArgument);
}
