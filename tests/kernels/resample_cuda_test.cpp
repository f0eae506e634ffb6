// resample_device against the reference, bit for bit (NaN equals NaN), including the frames around the images.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "resample_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

void check_device(const ResampleCase& c, Random& random, Arithmetic arithmetic, bool special = false) {
  FramedImage in(c.in().extent(), c.channels, c.from);
  FramedImage expected(c.out.extent(), c.channels, c.to);
  FramedImage actual(c.out.extent(), c.channels, c.to);
  fill_random(in.view(), random, special);
  const std::vector<PointwiseOp> fused_ops = random_unary_ops(random, kMaxFusedOps);
  Image values(c.out.extent(), c.channels, pixel_type_of(arithmetic));
  resample_reference(c.resampling, {in.view(), c.in(), c.input()}, {values.view, c.out, c.result()},
                     arithmetic);
  apply_ops_reference(fused_ops, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage device_in(in.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  // The declared scratch size: the arena throws if it is too small.
  Arena arena(
      Buffer(resample_device_bytes(c.resampling, c.out.extent(), c.channels, arithmetic), device_resource()));
  resample_device(c.resampling, {device_in.view().crop(in.inside), c.in(), c.input()},
                  {result.view().crop(actual.inside), c.out, c.result()}, arithmetic, arena, stream.get(),
                  fused_ops);
  result.download(actual.all.view, stream);
  INFO(c.text() << " in " << name_of(arithmetic) << ", then " << fused_ops.size() << " operations");
  REQUIRE(same_pixels(expected, actual));
}

Arithmetic random_arithmetic(Random& random) { return random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64; }

}  // namespace

TEST_CASE("resample_device has the reference's bits: every filter and type, special values", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(36);
  for (int i = 0; i < 400; ++i) {
    const Extent from{random_between(random, 1, 90), random_between(random, 1, 300)};
    const Extent to{random_between(random, 1, 150), random_between(random, 1, 400)};
    check_device(random_resampling(random, from, to), random, random_arithmetic(random), i % 2 == 0);
  }
}

TEST_CASE("resample_device has the reference's bits: to cells, with every border, and back", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(40);
  for (int i = 0; i < 300; ++i)
    check_device(random_gaussian(random, {random_between(random, 1, 90), random_between(random, 1, 700)}),
                 random, random_arithmetic(random), i % 4 == 0);
}

TEST_CASE("resample_device of more rows than a grid has blocks, and of much smaller and larger images",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(37);
  check_device(random_resampling(random, {70000, 3}, {140000, 2}), random, Arithmetic::f32);
  for (int i = 0; i < 10; ++i) {
    check_device(random_resampling(random, {700, 900}, {3, 2}), random, random_arithmetic(random));
    check_device(random_resampling(random, {3, 2}, {300, 400}), random, random_arithmetic(random));
  }
}

TEST_CASE("resample_device on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(38);
  for (int i = 0; i < 16; ++i)
    check_device(random_resampling(random, {37, 61}, {29, 130}), random, random_arithmetic(random));
  for (int i = 0; i < 16; ++i)
    check_device(random_gaussian(random, {37, 61}), random, random_arithmetic(random));
}
