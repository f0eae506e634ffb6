// order_cuda against the reference, bit for bit (NaN equals NaN), frames around the images included.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "order_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

void check_device(const OrderCase& c, Random& random) {
  const Arithmetic arithmetic = random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
  const FramedImage in(c.in().extent(), c.channels, c.from);
  const FramedImage expected(c.out.extent(), c.channels, c.to);
  const FramedImage actual(c.out.extent(), c.channels, c.to);
  fill_ranked(in.view(), random, c.missing);
  const std::vector<PointwiseOp> then = random_unary_ops(random, kMostFusedOps);
  Image values(c.out.extent(), c.channels, pixel_type_of(arithmetic));
  order_reference(c.filter, c.border, {in.view(), c.in(), c.image}, {values.view, c.out, c.image},
                  arithmetic);
  apply_then_reference(then, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage device_in(in.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  // As much as was promised: the arena throws if it is not enough.
  Arena arena(Buffer(order_device_bytes(c.filter, c.channels, arithmetic), device_resource()));
  order_cuda(c.filter, c.border, {device_in.view().crop(in.inside), c.in(), c.image},
             {result.view().crop(actual.inside), c.out, c.image}, arithmetic, arena, stream.get(), then);
  result.download(actual.all.view, stream);
  INFO(c.text() << " in " << name_of(arithmetic) << ", then " << then.size() << " operations");
  REQUIRE(same_pixels(expected, actual));
}

/// A square window, as most are.
OrderCase squared(OrderCase c, std::int64_t radius) {
  const OrderWindow window{radius, radius, radius, radius};
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
}
