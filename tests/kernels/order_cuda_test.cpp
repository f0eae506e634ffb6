// order_cuda against the reference, bit for bit (NaN equals NaN), frames around the images included.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "order_case.hpp"
#include "sepconv/core/error.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

/// Planes under a window one behind another, as those of a volume lie; of `absent`, by bits, the border's
/// constant has made some.
void check_device(const OrderCase& c, Random& random, std::uint64_t absent = 0) {
  const Arithmetic arithmetic = random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
  const std::int64_t planes = c.filter.window.planes();
  const FramedImage in({c.in().rows * planes, c.in().cols}, c.channels, c.from);
  const FramedImage expected(c.out.extent(), c.channels, c.to);
  const FramedImage actual(c.out.extent(), c.channels, c.to);
  fill_ranked(in.view(), random, c.missing);
  const auto planes_of = [&](const PixelView& view) {
    std::vector<ConstRegion> regions(static_cast<std::size_t>(planes));
    for (std::int64_t i = 0; i < planes; ++i)
      if (i == c.filter.window.front || i >= 64 || (absent >> i & 1) == 0)
        regions[static_cast<std::size_t>(i)] = {view.crop({i * c.in().rows, 0, c.in().rows, c.in().cols}),
                                                c.in(), c.image};
    return regions;
  };
  const std::vector<PointwiseOp> then = random_unary_ops(random, kMostFusedOps);
  Image values(c.out.extent(), c.channels, pixel_type_of(arithmetic));
  order_reference(c.filter, c.border, planes_of(in.view()), {values.view, c.out, c.image}, arithmetic);
  apply_then_reference(then, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage device_in(in.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  // As much as was promised: the arena throws if it is not enough.
  Arena arena(Buffer(order_device_bytes(c.filter, c.channels, arithmetic), device_resource()));
  order_cuda(c.filter, c.border, planes_of(device_in.view().crop(in.inside)),
             {result.view().crop(actual.inside), c.out, c.image}, arithmetic, arena, stream.get(), then);
  result.download(actual.all.view, stream);
  INFO(c.text() << " in " << name_of(arithmetic) << ", then " << then.size() << " operations, absent "
                << absent);
  REQUIRE(same_pixels(expected, actual));
}

/// The same, of which planes are absent where the border is constant.
void check_deep(const OrderCase& c, Random& random) {
  check_device(c, random, c.border.mode == BorderMode::constant ? random() & random() : 0);
}

/// A square window, as most are, or a cuboid.
OrderCase squared(OrderCase c, std::int64_t radius, std::int64_t radius_z = 0) {
  const OrderWindow window{radius, radius, radius, radius, radius_z, radius_z};
  c.filter = OrderFilter(window, window.area() / 2, c.filter.missing);
  return c;
}

}  // namespace

TEST_CASE("order_cuda has the reference's bits: sorted in registers, by networks and by bisection", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(41);
  for (int i = 0; i < 200; ++i) check_device(random_order(random, {60, 200}, 4), random);
  for (int i = 0; i < 100; ++i) check_device(squared(random_order(random, {60, 200}, 1), 1 + i % 3), random);
  for (int i = 0; i < 12; ++i) check_device(squared(random_order(random, {30, 90}, 1), 4 + i % 6), random);
  for (int i = 0; i < 6; ++i) check_device(random_order(random, {20, 30}, 25), random);
}

TEST_CASE("order_cuda has the reference's bits: windows over several planes", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(44);
  for (int i = 0; i < 200; ++i) check_deep(random_deep_order(random, {30, 100}, 2), random);
  for (int i = 0; i < 60; ++i) check_deep(squared(random_order(random, {30, 100}, 1), 1, 1), random);
  for (int i = 0; i < 12; ++i) check_deep(squared(random_order(random, {20, 60}, 1), 2, 1 + i % 4), random);
  for (int i = 0; i < 6; ++i) check_deep(random_deep_order(random, {10, 20}, 7), random);
  for (const std::int64_t radius : {0, 1})
    check_deep(squared(random_order(random, {10, 20}, 1), radius, kMostDeviceOrderPlanes / 2), random);
}

TEST_CASE("order_cuda refuses more planes than a kernel is told of, and planes that do not lie alike",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Image image({8, 4}, 1, PixelType::u8), result({2, 4}, 1, PixelType::u8);
  Arena arena;
  const Stream stream;
  const auto run = [&](std::int64_t radius_z, const ConstRegion& first) {
    const OrderFilter filter({0, 0, 0, 0, radius_z, radius_z}, 0, OrderMissing::propagate);
    std::vector<ConstRegion> planes(static_cast<std::size_t>(filter.window.planes()),
                                    {image.view.crop({0, 0, 2, 4}), {0, 0, 2, 4}, {2, 4}});
    planes.front() = first;
    order_cuda(filter, {}, planes, {result.view, {0, 0, 2, 4}, {2, 4}}, Arithmetic::f32, arena, stream.get());
  };
  CHECK_THROWS_AS(run(kMostDeviceOrderPlanes / 2 + 1, {image.view.crop({0, 0, 2, 4}), {0, 0, 2, 4}, {2, 4}}),
                  InvalidArgument);
  Image other({2, 100}, 1, PixelType::u8);
  CHECK_THROWS_AS(run(1, {other.view.crop({0, 0, 2, 4}), {0, 0, 2, 4}, {2, 4}}), InvalidArgument);
}

TEST_CASE("order_cuda of more rows than a grid has blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(42);
  for (const std::int64_t radius : {1, 3, 12}) {
    OrderCase c = squared(random_order(random, {1, 1}, 1), radius);
    c.image = {70000, 2};
    c.channels = 1;
    c.out = {10, 0, 69000, 2};
    if (radius == 12) c.filter = OrderFilter({0, 0, 300, 200}, 17, OrderMissing::ignore);
    check_device(c, random);
  }
}

TEST_CASE("order_cuda on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(43);
  for (int i = 0; i < 16; ++i) check_device(random_order(random, {20, 70}, 3), random);
  for (int i = 0; i < 4; ++i) check_device(squared(random_order(random, {20, 70}, 1), 1 + i), random);
  for (int i = 0; i < 8; ++i) check_deep(random_deep_order(random, {10, 40}, 2), random);
  for (int i = 0; i < 4; ++i) check_deep(squared(random_order(random, {10, 40}, 1), 1, 1), random);
}
