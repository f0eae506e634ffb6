// exact_gemm_device against the reference, bit for bit (NaN equals NaN), including the frames around the
// images.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "core/error.hpp"
#include "exact_gemm_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

void check_device(const ExactCase& c, Random& random, Arithmetic arithmetic, bool special = false) {
  const FramedImage x = c.make_x(random_choice(random, kPixelTypes));
  const FramedImage y = c.make_y(random_choice(random, kPixelTypes));
  const PixelType type = random_choice(random, kPixelTypes);
  const std::vector<PointwiseOp> fused_ops = random_unary_ops(random, kMaxFusedOps);
  FramedImage expected = c.make_out(type);
  FramedImage actual = c.make_out(type);
  fill_random(x.view(), random, special);
  fill_random(y.view(), random, special);
  Image values(expected.view().extent, expected.view().channels, pixel_type_of(arithmetic));
  exact_gemm_reference({x.view(), c.x_transposed}, {y.view(), c.y_transposed}, values.view, arithmetic);
  apply_ops_reference(fused_ops, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage device_x(x.all.view, stream.get());
  const DeviceImage device_y(y.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  exact_gemm_device({device_x.view().crop(x.inside), c.x_transposed},
                    {device_y.view().crop(y.inside), c.y_transposed}, result.view().crop(actual.inside),
                    arithmetic, stream.get(), fused_ops);
  result.download(actual.all.view, stream);
  INFO(c.text() << ", " << name_of(x.view().type) << " and " << name_of(y.view().type) << " to "
                << name_of(type) << " in " << name_of(arithmetic) << ", then " << fused_ops.size()
                << " operations");
  REQUIRE(same_pixels(expected, actual));
}

}  // namespace

TEST_CASE("exact_gemm_device has the reference's bits: sizes around its tiles", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(8);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    for (const std::int64_t m : {1, 7, 63, 65, 127, 128, 129, 300}) {
      for (const std::int64_t n : {1, 15, 64, 65, 128, 131, 257})
        check_device(random_exact_case(random, m, n, random_between(random, 1, 50)), random, arithmetic);
    }
    for (const std::int64_t k : {1, 15, 16, 17, 31, 32, 33, 48, 1000})
      check_device(random_exact_case(random, 70, 90, k), random, arithmetic);
    // Large results, which use the larger tiles.
    check_device(random_exact_case(random, 1500, 2900, 35), random, arithmetic);
    check_device(random_exact_case(random, 2049, 2177, 16), random, arithmetic);
  }
}

TEST_CASE("exact_gemm_device has the reference's bits: every type, special values", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    const ExactCase c = random_exact_case(random, random_between(random, 1, 40),
                                          random_between(random, 1, 150), random_between(random, 1, 60));
    check_device(c, random, i % 4 < 2 ? Arithmetic::f32 : Arithmetic::f64, i % 2 == 0);
  }
}

TEST_CASE("exact_gemm_device of more rows than a grid has blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(10);
  check_device({65535 * 64 + 70, 1, 2}, random, Arithmetic::f64);
}

TEST_CASE("exact_gemm_device on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(11);
  for (const ExactChannels mode : kExactChannels) {
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
      ExactCase c{131, 133, 35, mode, mode == ExactChannels::none ? 1 : 3};
      c.x_transposed = !c.on_x();
      check_device(c, random, arithmetic);
    }
  }
  check_device({2300, 2200, 17}, random, Arithmetic::f32);
  check_device({1100, 1200, 17}, random, Arithmetic::f64);
}
