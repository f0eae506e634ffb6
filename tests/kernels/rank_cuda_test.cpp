// rank_device against the reference, bit for bit (NaN equals NaN), including the frames around the images.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "core/error.hpp"
#include "rank_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

/// Filters consecutive planes of a volume to `results` result planes. The bits of `absent` mark planes beyond
/// the volume, which have the border's constant.
void check_device(const RankCase& c, Random& random, std::int64_t results = 1, std::uint64_t absent = 0) {
  const Arithmetic arithmetic = random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
  const std::int64_t plane_count = c.filter.window.planes(), front = c.filter.window.front;
  const std::int64_t rows = c.in().rows;
  const FramedImage in({rows * (plane_count + results - 1), c.in().cols}, c.channels, c.from);
  const FramedImage expected({c.out.rows * results, c.out.cols}, c.channels, c.to);
  const FramedImage actual({c.out.rows * results, c.out.cols}, c.channels, c.to);
  fill_ranked(in.view(), random, c.missing);
  const auto planes_of = [&](const PixelView& view) {
    std::vector<ConstRegion> regions(static_cast<std::size_t>(plane_count + results - 1));
    for (std::int64_t i = 0; i < std::ssize(regions); ++i)
      if ((i >= front && i < front + results) || i >= 64 || (absent >> i & 1) == 0)
        regions[static_cast<std::size_t>(i)] = {view.crop({i * rows, 0, rows, c.in().cols}), c.in(), c.image};
    return regions;
  };
  const auto out_of = [&](const PixelView& view, std::int64_t i) {
    return view.crop({i * c.out.rows, 0, c.out.rows, c.out.cols});
  };
  const std::vector<PointwiseOp> fused_ops = random_unary_ops(random, kMaxFusedOps);
  const std::vector<ConstRegion> on_host = planes_of(in.view());
  for (std::int64_t i = 0; i < results; ++i) {
    Image values(c.out.extent(), c.channels, pixel_type_of(arithmetic));
    const auto first = static_cast<std::size_t>(i), count = static_cast<std::size_t>(plane_count);
    rank_reference(c.filter, c.border, std::span(on_host).subspan(first, count),
                   {values.view, c.out, c.image}, arithmetic);
    apply_ops_reference(fused_ops, values, out_of(expected.view(), i), arithmetic);
  }

  const Stream stream;
  const DeviceImage device_in(in.all.view, stream.get());
  const DeviceImage result(actual.all.view, stream.get());
  std::vector<Region> outs;
  for (std::int64_t i = 0; i < results; ++i)
    outs.push_back({out_of(result.view().crop(actual.inside), i), c.out, c.image});
  // The declared scratch size: the arena throws if it is too small.
  Arena arena(Buffer(rank_device_bytes(c.filter, c.channels, arithmetic), device_resource()));
  rank_device(c.filter, c.border, planes_of(device_in.view().crop(in.inside)), outs, arithmetic, arena,
              stream.get(), fused_ops);
  result.download(actual.all.view, stream);
  INFO(c.text() << " in " << name_of(arithmetic) << ", then " << fused_ops.size() << " operations, "
                << results << " results, absent " << absent);
  REQUIRE(same_pixels(expected, actual));
}

/// The same with several result planes; with a constant border some planes are absent.
void check_filters_along_z(const RankCase& c, Random& random, std::int64_t results = 0) {
  if (results == 0) results = random_between(random, 1, 4);
  check_device(c, random, results, c.border.mode == BorderMode::constant ? random() & random() : 0);
}

/// The case with a square window or a cuboid, and the median.
RankCase with_square_window(RankCase c, std::int64_t radius, std::int64_t radius_z = 0) {
  const RankWindow window{radius, radius, radius, radius, radius_z, radius_z};
  c.filter = RankFilter(window, window.area() / 2, c.filter.missing);
  return c;
}

}  // namespace

TEST_CASE("rank_device has the reference's bits: sorted in registers, by networks and by bisection",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(41);
  for (int i = 0; i < 200; ++i) check_device(random_rank(random, {60, 200}, 4), random);
  for (int i = 0; i < 100; ++i)
    check_device(with_square_window(random_rank(random, {60, 200}, 1), 1 + i % 3), random);
  for (int i = 0; i < 12; ++i)
    check_device(with_square_window(random_rank(random, {30, 90}, 1), 4 + i % 6), random);
  for (int i = 0; i < 6; ++i) check_device(random_rank(random, {20, 30}, 25), random);
}

TEST_CASE("rank_device has the reference's bits: windows over several planes", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(44);
  for (int i = 0; i < 200; ++i) check_filters_along_z(random_volume_rank(random, {30, 100}, 2), random);
  for (int i = 0; i < 60; ++i)
    check_filters_along_z(with_square_window(random_rank(random, {30, 100}, 1), 1, 1), random);
  for (int i = 0; i < 12; ++i)
    check_filters_along_z(with_square_window(random_rank(random, {20, 60}, 1), 2, 1 + i % 4), random);
  for (int i = 0; i < 6; ++i) check_filters_along_z(random_volume_rank(random, {10, 20}, 7), random);
  for (const std::int64_t radius : {0, 1})
    check_filters_along_z(
        with_square_window(random_rank(random, {10, 20}, 1), radius, kMaxDeviceRankPlanes / 2), random,
        kMaxDeviceRankResults);
}

TEST_CASE("rank_device rejects more planes than a kernel supports, and planes of different layout") {
  Image image({2, 4}, 1, PixelType::u8), other({2, 100}, 1, PixelType::u8);
  const Rect rect{0, 0, 2, 4};
  const auto check = [&](std::int64_t radius_z, std::int64_t results, const PixelView& last) {
    const RankFilter filter({0, 0, 0, 0, radius_z, radius_z}, 0, RankMissing::propagate);
    std::vector<ConstRegion> planes(static_cast<std::size_t>(filter.window.planes() + results - 1),
                                    {image.view, rect, {2, 4}});
    planes.back().pixels = last;
    const std::vector<Region> outs(static_cast<std::size_t>(results), {image.view, rect, {2, 4}});
    check_rank_on_device(filter, {}, planes, outs);
  };
  constexpr std::int64_t kMax = kMaxDeviceRankPlanes / 2;
  CHECK_NOTHROW(check(kMax, kMaxDeviceRankResults, image.view));
  CHECK_THROWS_AS(check(kMax + 1, 1, image.view), InvalidArgument);
  CHECK_THROWS_AS(check(1, kMaxDeviceRankResults + 1, image.view), InvalidArgument);
  CHECK_THROWS_AS(check(1, 2, other.view.crop(rect)), InvalidArgument);
}

TEST_CASE("rank_device of more rows than a grid has blocks", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(42);
  for (const std::int64_t radius : {1, 3, 12}) {
    RankCase c = with_square_window(random_rank(random, {1, 1}, 1), radius);
    c.image = {70000, 2};
    c.channels = 1;
    c.out = {10, 0, 69000, 2};
    if (radius == 12) c.filter = RankFilter({0, 0, 300, 200}, 17, RankMissing::ignore);
    check_device(c, random);
  }
}

TEST_CASE("rank_device on a suite small enough for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(43);
  for (int i = 0; i < 16; ++i) check_device(random_rank(random, {20, 70}, 3), random);
  for (int i = 0; i < 4; ++i)
    check_device(with_square_window(random_rank(random, {20, 70}, 1), 1 + i), random);
  for (int i = 0; i < 8; ++i) check_filters_along_z(random_volume_rank(random, {10, 40}, 2), random);
  for (int i = 0; i < 4; ++i)
    check_filters_along_z(with_square_window(random_rank(random, {10, 40}, 1), 1, 1), random);
}
