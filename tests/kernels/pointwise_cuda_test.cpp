// pointwise_device and mix_channels_device against their references, bit for bit (NaN equals NaN).
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "alpha_op.hpp"
#include "core/error.hpp"
#include "cuda_case.hpp"
#include "pointwise_kinds.hpp"
#include "random_matrix.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

constexpr Arithmetic kBoth[] = {Arithmetic::f32, Arithmetic::f64};

/// A framed image of random pixels, including special values.
FramedImage random_framed(Random& random, Extent extent, std::int64_t channels, PixelType type) {
  FramedImage image(extent, channels, type);
  fill_random(image.view(), random, true);
  return image;
}

void check_pointwise_case(const PointwiseOp& op, const FramedImage& a, const FramedImage& b, PixelType to,
                          Arithmetic arithmetic, const std::vector<PointwiseOp>& fused_ops) {
  const Extent extent = a.view().extent;
  const std::int64_t channels = a.view().channels;
  FramedImage expected(extent, channels, to);
  FramedImage actual(extent, channels, to);
  Image values(extent, channels, pixel_type_of(arithmetic));
  pointwise_reference(op, a.view(), b.view(), values.view, arithmetic);
  apply_ops_reference(fused_ops, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage device_a(a.all.view, stream.get());
  const DeviceImage device_b(b.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  pointwise_device(op, device_a.view().crop(a.inside), device_b.view().crop(b.inside),
                   result.view().crop(actual.inside), arithmetic, stream.get(), fused_ops);
  result.download(actual.all.view, stream);
  INFO("kind " << int(op.kind) << ", " << name_of(a.view().type) << " and " << name_of(b.view().type)
               << " to " << name_of(to) << " in " << name_of(arithmetic) << ", " << extent.rows << " x "
               << extent.cols << " x " << channels << ", then " << fused_ops.size() << " operations");
  REQUIRE(same_pixels(expected, actual));
}

void check_mix(Random& random, Extent extent, std::int64_t out_channels, std::int64_t in_channels,
               Arithmetic arithmetic) {
  const ChannelMatrix matrix = random_matrix(random, out_channels, in_channels);
  const FramedImage in = random_framed(random, extent, in_channels, random_choice(random, kPixelTypes));
  const std::vector<PointwiseOp> fused_ops = random_unary_ops(random, kMaxFusedOps);
  FramedImage expected(extent, out_channels, random_choice(random, kPixelTypes));
  FramedImage actual(extent, out_channels, expected.view().type);
  Image values(extent, out_channels, pixel_type_of(arithmetic));
  mix_channels_reference(matrix, in.view(), values.view, arithmetic);
  apply_ops_reference(fused_ops, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage source(in.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  mix_channels_device(matrix, source.view().crop(in.inside), result.view().crop(actual.inside), arithmetic,
                      stream.get(), fused_ops);
  result.download(actual.all.view, stream);
  INFO(in_channels << " to " << out_channels << " channels, " << extent.rows << " x " << extent.cols << ", "
                   << name_of(in.view().type) << " to " << name_of(actual.view().type) << " in "
                   << name_of(arithmetic) << ", then " << fused_ops.size() << " operations");
  REQUIRE(same_pixels(expected, actual));
}

void check_alpha_case(Random& random, Extent extent, std::int64_t channels, Arithmetic arithmetic) {
  const FramedImage in = random_framed(random, extent, channels, random_choice(random, kPixelTypes));
  const std::vector<PointwiseOp> fused_ops = random_unary_ops(random, kMaxFusedOps);
  FramedImage expected(extent, channels, random_choice(random, kPixelTypes));
  FramedImage actual(extent, channels, expected.view().type);
  const AlphaOp op = random_alpha_op(random, channels, expected.view().type);
  Image values(extent, channels, pixel_type_of(arithmetic));
  alpha_host(op, in.view(), values.view, arithmetic);
  apply_ops_reference(fused_ops, values, expected.view(), arithmetic);

  const Stream stream;
  const DeviceImage source(in.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  alpha_device(op, source.view().crop(in.inside), result.view().crop(actual.inside), arithmetic, stream.get(),
               fused_ops);
  result.download(actual.all.view, stream);
  INFO(channels << " channels, " << extent.rows << " x " << extent.cols << ", " << name_of(in.view().type)
                << " to " << name_of(actual.view().type) << " in " << name_of(arithmetic));
  REQUIRE(same_pixels(expected, actual));
}

}  // namespace

TEST_CASE("pointwise_device has the reference's bits: every operation, type and arithmetic", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(31);
  for (const Kind kind : kKinds) {
    for (const PixelType from : kPixelTypes) {
      for (const PixelType to : kPixelTypes) {
        PointwiseOp op{kind, 1.3, 40.7, -3.1, random_choice(random, kPixelTypes)};
        if (kind == Kind::clamp) op.p = -0.0;
        if (kind == Kind::mark_missing || kind == Kind::store_missing)
          op.p = 3;  // some values are or become 3
        op.propagates_nodata = random_between(random, 0, 1) == 1;
        const FramedImage a = random_framed(random, {3, 21}, 2, from);
        const FramedImage b = random_framed(random, {3, 21}, 2, random_choice(random, kPixelTypes));
        for (const Arithmetic arithmetic : kBoth) check_pointwise_case(op, a, b, to, arithmetic, {});
      }
    }
  }
}

TEST_CASE("round_to on the device has the reference's bits for every pair of types", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(32);
  for (const PixelType type : kPixelTypes) {
    for (const PixelType from : {PixelType::f32, PixelType::f64}) {
      const FramedImage a = random_framed(random, {40, 301}, 1, from);
      for (const Arithmetic arithmetic : kBoth) {
        check_pointwise_case({Kind::round_to, 0, 0, 0, type}, a, a, from, arithmetic, {});
        check_pointwise_case({}, a, a, type, arithmetic, {});
      }
    }
  }
}

TEST_CASE("pointwise_device has the reference's bits: operations one after another", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(33);
  for (int i = 0; i < 200; ++i) {
    const Extent extent{random_between(random, 1, 9), random_between(random, 1, 300)};
    const std::int64_t channels = random_between(random, 1, 5);
    const FramedImage a = random_framed(random, extent, channels, random_choice(random, kPixelTypes));
    const FramedImage b = random_framed(random, extent, channels, random_choice(random, kPixelTypes));
    check_pointwise_case(random_binary_op(random), a, b, random_choice(random, kPixelTypes),
                         random_choice(random, kBoth), random_unary_ops(random, kMaxFusedOps));
  }
}

TEST_CASE("pointwise_device has the reference's bits: sizes around blocks, and more rows than a grid",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(34);
  for (const std::int64_t cols : {1, 255, 256, 257, 511, 512, 513}) {
    const FramedImage a = random_framed(random, {5, cols}, 1, PixelType::u16);
    const FramedImage b = random_framed(random, {5, cols}, 1, PixelType::f32);
    check_pointwise_case({Kind::unsharp, 0.5, 2}, a, b, PixelType::u16, Arithmetic::f32, {});
  }
  for (const std::int64_t rows : {65534, 65535, 65536, 131072}) {
    const FramedImage a = random_framed(random, {rows, 3}, 1, PixelType::i16);
    check_pointwise_case({Kind::scale, 2, 1}, a, a, PixelType::i16, Arithmetic::f32, {});
  }
}

TEST_CASE("a pointwise operation on the device may write over either input", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(35);
  const Stream stream;
  for (const bool over_first : {true, false}) {
    Image a({5, 700}, 1, PixelType::f32);
    Image b({5, 700}, 1, PixelType::f32);
    Image expected({5, 700}, 1, PixelType::f32);
    Image actual({5, 700}, 1, PixelType::f32);
    fill_random(a.view, random);
    fill_random(b.view, random);
    pointwise_reference({Kind::difference}, a.view, b.view, expected.view, Arithmetic::f32);
    const DeviceImage device_a(a.view, stream.get());
    const DeviceImage device_b(b.view, stream.get());
    const DeviceImage& target = over_first ? device_a : device_b;
    pointwise_device({Kind::difference}, device_a.view(), device_b.view(), target.view(), Arithmetic::f32,
                     stream.get());
    target.download(actual.view, stream);
    CHECK(differing_elements(expected.view, actual.view) == 0);
  }
}

TEST_CASE("mix_channels_device has the reference's bits", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(36);
  for (int i = 0; i < 120; ++i) {
    const Extent extent{random_between(random, 1, 4), random_between(random, 1, 300)};
    check_mix(random, extent, random_between(random, 1, 5), random_between(random, 1, i % 10 == 0 ? 70 : 5),
              random_choice(random, kBoth));
  }
  // Around the small matrix's limit of 64 numbers, and up to the limit of 3600.
  for (const Arithmetic arithmetic : kBoth) {
    for (const auto& [out_channels, in_channels] : {std::pair{1, 62},
                                                    {1, 63},
                                                    {1, 64},
                                                    {7, 8},
                                                    {8, 7},
                                                    {9, 7},
                                                    {3, 21},
                                                    {1, 3599},
                                                    {1800, 1},
                                                    {60, 59},
                                                    {59, 60},
                                                    {40, 89}}) {
      check_mix(random, {3, 17}, out_channels, in_channels, arithmetic);
    }
  }
}

TEST_CASE("keep_alpha_device has the host's bits", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(40);
  for (int i = 0; i < 100; ++i) {
    const Extent extent{random_between(random, 1, 4), random_between(random, 1, 300)};
    const std::int64_t channels = random_between(random, 1, 5),
                       channel = random_between(random, 0, channels - 1);
    const Arithmetic arithmetic = random_choice(random, kBoth);
    const FramedImage in = random_framed(random, extent, channels, random_choice(random, kPixelTypes));
    FramedImage expected = random_framed(random, extent, channels, random_choice(random, kPixelTypes));
    const Stream stream;
    const DeviceImage source(in.all.view, stream.get());
    const DeviceImage result(expected.all.view, stream.get());
    keep_alpha_device(channel, source.view().crop(in.inside), result.view().crop(expected.inside), arithmetic,
                      stream.get());
    FramedImage actual(extent, channels, expected.view().type);
    result.download(actual.all.view, stream);
    keep_alpha_host(channel, in.view(), expected.all.view.crop(expected.inside), arithmetic);
    REQUIRE(same_pixels(expected, actual));
  }
}

TEST_CASE("alpha_device has the host's bits", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(39);
  for (int i = 0; i < 200; ++i)
    check_alpha_case(random, {random_between(random, 1, 4), random_between(random, 1, 300)},
                     random_between(random, 1, 5), random_choice(random, kBoth));
}

TEST_CASE("pointwise kernels on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(37);
  for (const Arithmetic arithmetic : kBoth) {
    const FramedImage a = random_framed(random, {5, 90}, 3, PixelType::u8);
    const FramedImage b = random_framed(random, {5, 90}, 3, PixelType::f64);
    check_pointwise_case(random_binary_op(random), a, b, PixelType::u16, arithmetic,
                         random_unary_ops(random, kMaxFusedOps));
    check_mix(random, {4, 70}, 3, 4, arithmetic);
    check_mix(random, {4, 20}, 20, 30, arithmetic);
    check_alpha_case(random, {5, 90}, 4, arithmetic);
  }
}

TEST_CASE("pointwise kernels of the device refuse what they cannot do, and nothing is written", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(38);
  const Stream stream;
  const FramedImage in = random_framed(random, {4, 4}, 2, PixelType::u8);
  FramedImage before({4, 4}, 2, PixelType::u8);
  const DeviceImage a(in.all.view, stream.get());
  const DeviceImage out(before.all.view, stream.get());
  const PixelView from = a.view().crop(in.inside);
  const PixelView to = out.view().crop(before.inside);
  const auto run = [&](const PointwiseOp& op, const PixelView& source,
                       const std::vector<PointwiseOp>& fused_ops) {
    pointwise_device(op, source, from, to, Arithmetic::f32, stream.get(), fused_ops);
  };
  CHECK_THROWS_AS(run({}, from.crop({0, 0, 3, 4}), {}), InvalidArgument);
  CHECK_THROWS_AS(run({}, from, std::vector<PointwiseOp>(kMaxFusedOps + 1)), InvalidArgument);
  CHECK_THROWS_AS(mix_channels_device(random_matrix(random, 1, 3), from, to, Arithmetic::f32, stream.get()),
                  InvalidArgument);
  // Just above the limit: 2 x (1799 + 1) are 3600.
  const FramedImage wide = random_framed(random, {1, 1}, 1800, PixelType::u8);
  const DeviceImage many(wide.all.view, stream.get());
  CHECK_THROWS_AS(mix_channels_device(random_matrix(random, 2, 1800), many.view().crop(wide.inside),
                                      to.crop({0, 0, 1, 1}), Arithmetic::f32, stream.get()),
                  InvalidArgument);
  FramedImage after({4, 4}, 2, PixelType::u8);
  out.download(after.all.view, stream);
  CHECK(same_bytes(before, after));
}
