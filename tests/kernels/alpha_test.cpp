// AlphaOp on the host: known pixels, and every type against the definitions in alpha.hpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "alpha_op.hpp"
#include "core/error.hpp"

using namespace sepconv;

namespace {

/// The result for one f64 pixel as alpha.hpp defines it. Results of Kind::store are rounded to op.type.
std::vector<double> expected_of(const AlphaOp& op, const std::vector<double>& x) {
  const auto rounded = [&](double value) {
    if (is_floating(op.type))
      return op.type == PixelType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
    const auto [low, high] = op.type == PixelType::u8    ? std::pair{0.0, 255.0}
                             : op.type == PixelType::u16 ? std::pair{0.0, 65535.0}
                                                         : std::pair{-32768.0, 32767.0};
    return std::isnan(value) ? 0 : std::nearbyint(std::min(std::max(value, low), high));
  };
  const double alpha = x[static_cast<std::size_t>(op.channel)];
  std::vector<double> result = x;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const bool is_alpha = static_cast<std::int64_t>(c) == op.channel;
    using Kind = AlphaOp::Kind;
    if (op.kind == Kind::multiply || op.kind == Kind::divide || op.kind == Kind::clear) {
      const double weight = alpha / op.r;
      if (!(rounded(alpha) > 0))
        result[c] = op.p;
      else if (!is_alpha && op.kind != Kind::clear)
        result[c] = op.kind == Kind::multiply ? x[c] * weight : x[c] / weight;
    } else if (op.kind == Kind::rescale) {
      if (is_alpha) result[c] = x[c] * op.p / op.r;
    } else if (op.kind == Kind::hide) {
      if (alpha == 0 || std::isnan(alpha) || (!is_alpha && x[c] == op.p)) result[c] = NAN;
    } else if (is_alpha) {
      const double min_positive = is_floating(op.type) ? op.type == PixelType::f32 ? 0x1p-126 : 0x1p-1022 : 1;
      result[c] = std::isnan(alpha) ? 0

                  : rounded(x[c]) > 0 ? rounded(x[c])
                                      : min_positive;
    } else {
      result[c] = std::isnan(alpha)       ? op.p
                  : std::isnan(x[c])      ? op.r
                  : rounded(x[c]) == op.p ? op.q
                                          : rounded(x[c]);
      if (op.p == op.q && rounded(x[c]) == op.p && !std::isnan(alpha) && !std::isnan(x[c]))
        result[c] = rounded(x[c]);
    }
  }
  for (double& value : result)
    if (op.kind == AlphaOp::Kind::store) value = rounded(value);
  return result;
}

}  // namespace

TEST_CASE("alpha 0 hides its pixel, and a valid pixel is stored with the minimum positive alpha at least") {
  const std::uint8_t in[] = {10, 20, 0, 30, 40, 200, 0, 7, 1};
  float hidden[9];
  alpha_host({.channel = 2, .p = 7}, view_of(in, {1, 3}, 3), view_of(hidden, {1, 3}, 3), Arithmetic::f32);
  for (const int i : {0, 1, 2, 7}) CHECK(std::isnan(hidden[i]));
  CHECK((hidden[3] == 30 && hidden[5] == 200 && hidden[6] == 0 && hidden[8] == 1));
  hidden[8] = 0.3F;
  std::uint8_t out[9];
  AlphaOp store{.kind = AlphaOp::Kind::store, .channel = 2, .p = 7, .q = 8, .r = 7, .type = PixelType::u8};
  hidden[3] = 6.8F;
  alpha_host(store, view_of(hidden, {1, 3}, 3), view_of(out, {1, 3}, 3), Arithmetic::f32);
  CHECK(std::vector<int>(out, out + 9) == std::vector<int>{7, 7, 0, 8, 40, 200, 0, 7, 1});
  const float computed[] = {1, 2, NAN, 1, 2, 3, 1, 2, 3};
  std::copy_n(computed, 9, hidden);
  keep_alpha_host(2, view_of(in, {1, 3}, 3), view_of(hidden, {1, 3}, 3), Arithmetic::f32);
  CHECK((std::isnan(hidden[2]) && hidden[5] == 200 && hidden[8] == 1 && hidden[0] == 1 && hidden[7] == 2));
  const AlphaOp multiply{
      .kind = AlphaOp::Kind::multiply, .channel = 2, .p = 0, .r = 200, .type = PixelType::f64};
  alpha_host(multiply, view_of(in, {1, 3}, 3), view_of(hidden, {1, 3}, 3), Arithmetic::f64);
  CHECK(std::vector<float>(hidden, hidden + 9) == std::vector<float>{0, 0, 0, 30, 40, 200, 0, 0.035F, 1});
  AlphaOp divide = multiply;
  divide.kind = AlphaOp::Kind::divide, divide.type = PixelType::u8, hidden[8] = 0.5F;
  alpha_host(divide, view_of(hidden, {1, 3}, 3), view_of(out, {1, 3}, 3), Arithmetic::f64);
  CHECK(std::vector<int>(out, out + 9) == std::vector<int>{0, 0, 0, 30, 40, 200, 0, 0, 0});
  CHECK_THROWS_AS(
      alpha_host({.channel = 3}, view_of(in, {1, 3}, 3), view_of(hidden, {1, 3}, 3), Arithmetic::f32),
      InvalidArgument);
}

TEST_CASE("alpha_host does to pixels of any type what it says") {
  Random random(41);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t channels = random_between(random, 1, 5);
    const Extent extent{random_between(random, 1, 3), random_between(random, 1, 400)};
    Image in(extent, channels, random_choice(random, kPixelTypes));
    fill_random(in.view, random, true);
    Image out(extent, channels, random_choice(random, kPixelTypes));
    AlphaOp op = random_alpha_op(random, channels, out.view.type);
    if (op.kind != AlphaOp::Kind::store) out = Image(extent, channels, PixelType::f64);
    Image values(extent, channels, PixelType::f64), results(extent, channels, PixelType::f64);
    // Few distinct values, so that some equal the values that the operation compares with.
    pointwise_host({.kind = PointwiseOp::Kind::clamp, .p = 0, .q = 8}, in.view, in.view, in.view,
                   Arithmetic::f64);
    pointwise_host({}, in.view, in.view, values.view, Arithmetic::f64);
    alpha_host(op, in.view, out.view, Arithmetic::f64);
    pointwise_host({}, out.view, out.view, results.view, Arithmetic::f64);
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      for (std::int64_t col = 0; col < extent.cols; ++col) {
        const double* const x = values.view.row<double>(row) + col * channels;
        const double* const y = results.view.row<double>(row) + col * channels;
        const std::vector<double> expected = expected_of(op, {x, x + channels});
        for (std::int64_t c = 0; c < channels; ++c) {
          const double expected_value = expected[static_cast<std::size_t>(c)];
          INFO(i << ": " << x[c] << " became " << y[c] << " and not " << expected_value << " of "
                 << name_of(in.view.type) << " to " << name_of(op.type) << ", alpha " << x[op.channel]
                 << (c == op.channel ? " itself" : ""));
          REQUIRE((y[c] == expected_value || (std::isnan(y[c]) && std::isnan(expected_value))));
        }
      }
    }
  }
}

TEST_CASE("pixels hidden by alpha are found, with alpha in any channel and together with a nodata value") {
  std::vector<std::uint8_t> pixels(2 * 75, 9);
  const auto missing_state = [&](const AlphaOp& hide) {
    return find_missing_state(view_of(pixels.data(), {3, 25}, 2), hide);
  };
  CHECK(missing_state({.channel = 1, .p = NAN}) == MissingState::none_missing);
  CHECK(missing_state({.channel = 1, .p = 9}) == MissingState::some_missing);
  pixels[2 * 74 + 1] = 0;
  CHECK(missing_state({.channel = 1, .p = NAN}) == MissingState::some_missing);
  CHECK(missing_state({.channel = 0, .p = NAN}) == MissingState::none_missing);
  for (std::size_t i = 1; i < pixels.size(); i += 2) pixels[i] = 0;
  CHECK(missing_state({.channel = 1, .p = NAN}) == MissingState::all_missing);
  CHECK(missing_state({.channel = 1, .p = 300}) == MissingState::all_missing);
}
