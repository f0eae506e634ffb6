// Mixing of channels: a known matrix, and the host's bits against the reference's.
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "random_image.hpp"
#include "random_matrix.hpp"

using namespace sepconv;

TEST_CASE("mixing swaps, weighs and offsets channels") {
  const std::uint8_t in[] = {10, 20, 30, 40, 50, 60};
  std::uint8_t out[4] = {};
  const ChannelMatrix matrix{2, 3, {0, 0, 1, 0.5, 0.25, 0}, {1, 2}};
  mix_channels_host(matrix, view_of(in, {1, 2}, 3), view_of(out, {1, 2}, 2), Arithmetic::f32);
  CHECK(out[0] == 31);
  CHECK(out[1] == 12);
  CHECK(out[2] == 61);
  CHECK(out[3] == 34);  // 34.5, half to even
}

TEST_CASE("mix_channels_host has the reference's bits") {
  Random random(21);
  for (int i = 0; i < 150; ++i) {
    const std::int64_t in_channels = random_between(random, 1, i % 10 == 0 ? 70 : 5);
    const std::int64_t out_channels = random_between(random, 1, 5);
    const Extent extent{random_between(random, 1, 4), random_between(random, 1, 300)};
    const Arithmetic arithmetic = i % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
    const ChannelMatrix matrix = random_matrix(random, out_channels, in_channels);
    Image in(extent, in_channels, random_choice(random, kPixelTypes));
    fill_random(in.view, random, i % 3 == 0);
    Image expected(extent, out_channels, random_choice(random, kPixelTypes));
    Image actual(extent, out_channels, expected.view.type);
    expected.fill_bytes(0xa5);
    mix_channels_reference(matrix, in.view, expected.view, arithmetic);
    for (const std::string& target : simd_targets()) {
      const ForcedTarget forced(target);
      REQUIRE(simd_target() == target);
      actual.fill_bytes(0xa5);
      mix_channels_host(matrix, in.view, actual.view, arithmetic);
      INFO(in_channels << " to " << out_channels << " channels, " << extent.rows << " x " << extent.cols
                       << ", " << name_of(in.view.type) << " to " << name_of(expected.view.type) << " on "
                       << target);
      REQUIRE(differing_elements(expected.view, actual.view) == 0);
    }
  }
}

TEST_CASE("mixing refuses a matrix that does not fit") {
  Image in({2, 2}, 3, PixelType::u8);
  Image out({2, 2}, 1, PixelType::u8);
  const auto mix = [&](const ChannelMatrix& matrix) {
    mix_channels_host(matrix, in.view, out.view, Arithmetic::f32);
  };
  CHECK_THROWS_AS(mix({1, 2, {1, 1}, {0}}), InvalidArgument);
  CHECK_THROWS_AS(mix({1, 3, {1, 1}, {0}}), InvalidArgument);
  CHECK_THROWS_AS(mix({1, 3, {1, 1, 1}, {}}), InvalidArgument);
  CHECK_NOTHROW(mix({1, 3, {1, 1, 1}, {0}}));
}
