// window_cuda against the reference, bit for bit (NaN equals NaN), frames around the images included.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "cuda_case.hpp"
#include "sepconv/core/error.hpp"
#include "window_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

void check_device(const WindowCase& c, Random& random) {
  const Rect rect = needed_rect(c);
  FramedImage in(rect.extent(), c.channels, c.from);
  FramedImage expected(c.out.extent(), c.channels, c.to), actual(c.out.extent(), c.channels, c.to);
  fill_random(in.view(), random, c.special);
  const std::vector<PointwiseOp> then = random_unary_ops(random, kMostFusedOps);
  Image values(c.out.extent(), c.channels, pixel_type_of(c.arithmetic));
  // window_host, whose bits window_test.cpp has compared: the reference takes long where windows are large.
  Worker worker(Buffer(window_scratch_bytes(c.window, c.out.extent(), c.channels, c.arithmetic, c.image)));
  window_host(c.window, c.border, {in.view(), rect, c.image}, {values.view, c.out, c.image}, c.arithmetic,
              worker);
  apply_then_reference(then, values, expected.view(), c.arithmetic);

  const Stream stream;
  const DeviceImage device_in(in.all.view, stream.get()), result(actual.all.view, stream.get());
  // As much as was promised: the arena throws if it is not enough.
  Arena arena(Buffer(window_device_bytes(c.window, c.out.extent(), c.channels, c.arithmetic, c.image),
                     device_resource()));
  window_cuda(c.window, c.border, {device_in.view().crop(in.inside), rect, c.image},
              {result.view().crop(actual.inside), c.out, c.image}, c.arithmetic, arena, stream.get(), then);
  result.download(actual.all.view, stream);
  INFO(c << ", then " << then.size() << " operations");
  REQUIRE(same_pixels(expected, actual));
}

}  // namespace

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
