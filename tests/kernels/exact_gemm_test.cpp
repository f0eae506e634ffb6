// exact_gemm: the reference against the formula, and the host's bits against the reference's.
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "exact_gemm_case.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

void fill_small_integers(const PixelView& view, Random& random) {
  visit_pixel_type(view.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < view.extent.rows; ++row) {
      for (std::int64_t i = 0; i < view.row_elements(); ++i)
        view.row<T>(row)[i] = static_cast<T>(random_between(random, 0, 9));
    }
  });
}

double element(const PixelView& view, std::int64_t row, std::int64_t col, std::int64_t channel,
               bool transposed = false) {
  if (transposed) std::swap(row, col);
  return visit_pixel_type(view.type, [&]<class T>(std::type_identity<T>) {
    return static_cast<double>(view.row<T>(row)[col * view.channels + channel]);
  });
}

/// Element (row, col, channel) of the result, as the header defines it.
double expected_element(const ExactCase& c, const PixelView& x, const PixelView& y, std::int64_t row,
                        std::int64_t col, std::int64_t channel) {
  double sum = 0;
  const std::int64_t summed_channels = c.keeps_channels() ? 1 : c.channels;
  for (std::int64_t k = 0; k < c.k; ++k) {
    for (std::int64_t other = 0; other < summed_channels; ++other) {
      const std::int64_t shared_index = k * summed_channels + other;
      const std::int64_t at = c.keeps_channels() ? channel : other;
      const double a = c.on_x() ? element(x, row, k, at) : element(x, row, shared_index, 0, c.x_transposed);
      const double b = c.on_y() ? element(y, k, col, at) : element(y, shared_index, col, 0, c.y_transposed);
      sum += a * b;
    }
  }
  return sum;
}

void multiply_on_host(const ExactCase& c, const PixelView& x, const PixelView& y, const PixelView& out,
                      Arithmetic arithmetic) {
  // The declared scratch size: the worker throws if it is too small.
  Worker worker(Buffer(exact_gemm_scratch_bytes(out.extent, out.channels, c.sum_length(), arithmetic)));
  exact_gemm_host({x, c.x_transposed}, {y, c.y_transposed}, out, arithmetic, worker);
  REQUIRE(worker.used_bytes() == 0);
}

void check_host(const ExactCase& c, Random& random, bool special = false) {
  const Arithmetic arithmetic = random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
  const FramedImage x = c.make_x(random_choice(random, kPixelTypes));
  const FramedImage y = c.make_y(random_choice(random, kPixelTypes));
  const PixelType type = random_choice(random, kPixelTypes);
  const FramedImage expected = c.make_out(type);
  fill_random(x.view(), random, special);
  fill_random(y.view(), random, special);
  exact_gemm_reference({x.view(), c.x_transposed}, {y.view(), c.y_transposed}, expected.view(), arithmetic);
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    const FramedImage actual = c.make_out(type);
    multiply_on_host(c, x.view(), y.view(), actual.view(), arithmetic);
    INFO(c.text() << ", " << name_of(x.view().type) << " and " << name_of(y.view().type) << " to "
                  << name_of(type) << " in " << name_of(arithmetic) << " on " << target);
    REQUIRE(same_pixels(expected, actual));
  }
}

}  // namespace

TEST_CASE("a product of small integers is exact, however channels and transposition go together") {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const ExactCase c = random_exact_case(random, random_between(random, 1, 9), random_between(random, 1, 9),
                                          random_between(random, 1, 9));
    const FramedImage x = c.make_x(random_choice(random, kPixelTypes));
    const FramedImage y = c.make_y(random_choice(random, kPixelTypes));
    const FramedImage out = c.make_out(PixelType::f64);
    fill_small_integers(x.view(), random);
    fill_small_integers(y.view(), random);
    exact_gemm_reference({x.view(), c.x_transposed}, {y.view(), c.y_transposed}, out.view(), Arithmetic::f32);
    INFO(c.text());
    for (std::int64_t row = 0; row < c.m; ++row) {
      for (std::int64_t col = 0; col < c.n; ++col) {
        for (std::int64_t channel = 0; channel < out.view().channels; ++channel)
          REQUIRE(element(out.view(), row, col, channel) ==
                  expected_element(c, x.view(), y.view(), row, col, channel));
      }
    }
  }
}

TEST_CASE("a sum goes over ascending k by fused multiply-add from 0, and is rounded once") {
  // 2^24 + 1 is not an f32: each 1 is lost when added to 2^24, but both count if they are added first.
  const float big_first[] = {16777216, 1, 1}, big_last[] = {1, 1, 16777216}, ones[] = {1, 1, 1};
  double sum = 0;
  const auto multiply = [&](const float* x, Arithmetic arithmetic) {
    exact_gemm_reference({view_of(x, {1, 3})}, {view_of(ones, {3, 1})}, view_of(&sum, {1, 1}), arithmetic);
    return sum;
  };
  CHECK(multiply(big_first, Arithmetic::f32) == 16777216);
  CHECK(multiply(big_last, Arithmetic::f32) == 16777218);
  CHECK(multiply(big_first, Arithmetic::f64) == 16777218);
  // (1 + e)(1 - e) - 1 = -e^2, which is lost if the product is rounded separately.
  const float e = 0x1p-13f;
  const float x[] = {-1, 1 + e}, y[] = {1, 1 - e};
  exact_gemm_reference({view_of(x, {1, 2})}, {view_of(y, {2, 1})}, view_of(&sum, {1, 1}), Arithmetic::f32);
  CHECK(sum == -0x1p-26);
  const float halves[] = {0.5f, 1.5f, 300, -7}, one = 1;
  std::uint8_t stored[4];
  exact_gemm_reference({view_of(halves, {4, 1})}, {view_of(&one, {1, 1})}, view_of(stored, {4, 1}),
                       Arithmetic::f32);
  CHECK(std::vector<int>(stored, stored + 4) == std::vector<int>{0, 2, 255, 0});
}

TEST_CASE("exact_gemm_host has the reference's bits: sizes around its blocks") {
  Random random(6);
  for (const std::int64_t m : {1, 5, 6, 7, 95, 96, 97, 200}) {
    for (const std::int64_t n : {1, 7, 31, 33, 127, 129, 257})
      check_host(random_exact_case(random, m, n, random_between(random, 1, 40)), random);
  }
  for (const std::int64_t k : {1, 2, 255, 256, 257, 511, 513, 1100})
    check_host(random_exact_case(random, 9, 40, k), random);
}

TEST_CASE("exact_gemm_host has the reference's bits: every type, special values") {
  Random random(7);
  for (int i = 0; i < 150; ++i) {
    const std::int64_t m = random_between(random, 1, 20);
    check_host(random_exact_case(random, m, random_between(random, 1, 70), random_between(random, 1, 30)),
               random, i % 2 == 0);
  }
}

TEST_CASE("tiny products keep the sign of what they round to") {
  const float x[] = {-1e-30f, 0}, y[] = {1e-30f, 0};
  float expected = 1, actual = 1;
  exact_gemm_reference({view_of(x, {1, 1}, 1, 8)}, {view_of(y, {1, 1}, 1, 8)}, view_of(&expected, {1, 1}),
                       Arithmetic::f32);
  CHECK((expected == 0 && std::signbit(expected)));
  Worker worker(Buffer(exact_gemm_scratch_bytes({1, 1}, 1, 1, Arithmetic::f32)));
  exact_gemm_host({view_of(x, {1, 1}, 1, 8)}, {view_of(y, {1, 1}, 1, 8)}, view_of(&actual, {1, 1}),
                  Arithmetic::f32, worker);
  CHECK((actual == 0 && std::signbit(actual)));
}

TEST_CASE("scratch of a product stays small whatever its size") {
  CHECK(exact_gemm_scratch_bytes({1 << 20, 1 << 20}, 4, 1 << 20, Arithmetic::f64) <= 768 << 10);
}

TEST_CASE("exact_gemm refuses shapes that do not fit, and names them") {
  Image x({4, 5}, 2, PixelType::f32), y({5, 3}, 1, PixelType::f32), out({4, 3}, 1, PixelType::f32);
  const auto multiply = [](const ExactOperand& a, const ExactOperand& b, const PixelView& to) {
    exact_gemm_reference(a, b, to, Arithmetic::f32);
  };
  CHECK_THROWS_WITH(multiply({x.view}, {y.view}, out.view),
                    Contains("4 x 5 of 2 channels times one of 5 x 3 is not a matrix of 4 x 3"));
  CHECK_THROWS_AS(multiply({y.view}, {y.view}, out.view), InvalidArgument);
  CHECK_THROWS_AS(multiply({x.view, true}, {y.view}, out.view), InvalidArgument);
  CHECK_THROWS_AS(multiply({x.view}, {x.view}, out.view), InvalidArgument);
  Image two({4, 3}, 2, PixelType::f32), three({4, 3}, 3, PixelType::f32);
  CHECK_THROWS_AS(multiply({x.view}, {y.view}, three.view), InvalidArgument);
  Random random(1);
  fill_random(x.view, random);
  fill_random(y.view, random);
  CHECK_NOTHROW(multiply({x.view}, {y.view}, two.view));
}
