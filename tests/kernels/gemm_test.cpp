// Products by the libraries against three loops, with odd sizes, pitches and transpositions; errors for
// shapes that do not match.
#include "kernels/gemm/gemm.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/gpu.hpp"
#include "core/error.hpp"
#include "random_image.hpp"

using namespace sepconv;

namespace {

/// A matrix inside a larger one, so that rows are not dense.
struct Matrix {
  Matrix(Extent extent, PixelType type, std::uint64_t seed)
      : all({extent.rows + 2, extent.cols + 3}, 1, type), inside{1, 2, extent.rows, extent.cols} {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> values(-1, 1);
    for (std::int64_t row = 0; row < all.view.extent.rows; ++row) {
      for (std::int64_t col = 0; col < all.view.extent.cols; ++col) set(row, col, values(random));
    }
  }
  PixelView view() const { return all.view.crop(inside); }
  void set(std::int64_t row, std::int64_t col, double value) const {
    if (all.view.type == PixelType::f32) {
      all.view.row<float>(row)[col] = static_cast<float>(value);
    } else {
      all.view.row<double>(row)[col] = value;
    }
  }

  Image all;
  Rect inside;
};

double at(const ConstPixelView& view, std::int64_t row, std::int64_t col) {
  return view.type == PixelType::f32 ? static_cast<double>(view.row<float>(row)[col])
                                     : view.row<double>(row)[col];
}

/// The maximum difference; NaN equals NaN.
double difference(const ConstPixelView& a, const ConstPixelView& b) {
  double max_difference = 0;
  for (std::int64_t row = 0; row < a.extent.rows; ++row) {
    for (std::int64_t col = 0; col < a.extent.cols; ++col) {
      const double left = at(a, row, col), right = at(b, row, col);
      if (std::isnan(left) && std::isnan(right)) continue;
      const double distance = std::abs(left - right);
      max_difference =
          std::isnan(distance) ? std::numeric_limits<double>::infinity() : std::max(max_difference, distance);
    }
  }
  return max_difference;
}

struct Case {
  GemmShape shape;
  GemmOp op;
  PixelType type;
};

/// Compares `multiply` with the reference on the same operands.
template <class Multiply>
void check(const Case& c, const Multiply& multiply) {
  const auto [m, n, k] = c.shape;
  const Matrix a(c.op.trans_a ? Extent{k, m} : Extent{m, k}, c.type, 1);
  const Matrix b(c.op.trans_b ? Extent{n, k} : Extent{k, n}, c.type, 2);
  const Matrix expected({m, n}, c.type, 3);
  const Matrix actual({m, n}, c.type, 3);
  gemm_reference(c.op, a.view(), b.view(), expected.view());
  multiply(c.op, a.view(), b.view(), actual);
  CAPTURE(m, n, k, c.op.trans_a, c.op.trans_b, c.op.alpha, c.op.beta, name_of(c.type));
  const double epsilon = c.type == PixelType::f32 ? 0x1p-24 : 0x1p-53;
  CHECK(difference(actual.view(), expected.view()) <=
        4 * epsilon * static_cast<double>(k + 2) * (std::abs(c.op.alpha) + std::abs(c.op.beta)));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const GemmShape shapes[] = {{1, 1, 1},   {7, 5, 3},     {1, 33, 17},   {33, 1, 17},
                              {17, 31, 1}, {64, 48, 100}, {129, 65, 257}};
  for (const GemmShape& shape : shapes) {
    for (const PixelType type : {PixelType::f32, PixelType::f64}) {
      for (int flags = 0; flags < 4; ++flags) {
        all.push_back({shape, {(flags & 1) != 0, (flags & 2) != 0, 1, 0}, type});
        all.push_back({shape, {(flags & 1) != 0, (flags & 2) != 0, -0.75, 1.5}, type});
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("gemm_host is the product") {
  if (gemm_host_library().empty()) {
    WARN("skipped: no OpenBLAS");
    return;
  }
  for (const Case& c : cases()) {
    for (const int threads : {1, 2}) {
      check(c, [&](const GemmOp& op, const PixelView& a, const PixelView& b, const Matrix& out) {
        gemm_host(op, a, b, out.view(), threads);
      });
    }
  }
}

TEST_CASE("gemm_device is the product", "[gpu][sanitize][cublas]") {
  SEPCONV_NEEDS_GPU();
  for (const Case& c : cases()) {
    check(c, [&](const GemmOp& op, const PixelView& a, const PixelView& b, const Matrix& out) {
      const Stream stream;
      Image dense_a(a.extent, 1, a.type), dense_b(b.extent, 1, b.type);
      copy_pixels(a, dense_a.view), copy_pixels(b, dense_b.view);
      const test::DeviceImage left(dense_a.view, stream.get()), right(dense_b.view, stream.get()),
          result(out.all.view, stream.get());
      stream.synchronize();
      gemm_device(op, left.view(), right.view(), result.view().crop(out.inside), stream.get());
      result.download(out.all.view, stream);
    });
  }
}

TEST_CASE("with beta 0 the result is not read, and NaN in an operand reaches what it meets, as in BLAS") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Matrix a({4, 3}, PixelType::f64, 1);
  const Matrix b({3, 5}, PixelType::f64, 2);
  a.set(1 + 2, 2 + 1, nan);  // in row 2
  const auto check_result = [&](const auto& multiply) {
    Matrix out({4, 5}, PixelType::f64, 3);
    for (std::int64_t col = 0; col < 5; ++col) out.set(1, 2 + col, nan);
    multiply(out.view());
    for (std::int64_t row = 0; row < 4; ++row) {
      for (std::int64_t col = 0; col < 5; ++col) CHECK(std::isnan(at(out.view(), row, col)) == (row == 2));
    }
  };
  check_result([&](const PixelView& out) { gemm_reference({}, a.view(), b.view(), out); });
  if (!gemm_host_library().empty())
    check_result([&](const PixelView& out) { gemm_host({}, a.view(), b.view(), out, 1); });
}

TEST_CASE("errors for matrices that do not match contain their shapes") {
  using Catch::Contains;
  const auto spec = [](std::int64_t rows, std::int64_t cols, PixelType type = PixelType::f32,
                       std::int64_t channels = 1) {
    return ImageSpec{{rows, cols}, channels, type};
  };
  CHECK(gemm_shape({}, spec(3, 4), spec(4, 5)) == GemmShape{3, 5, 4});
  CHECK(gemm_shape({true, true}, spec(4, 3), spec(5, 4)) == GemmShape{3, 5, 4});
  CHECK_THROWS_WITH(gemm_shape({}, spec(3, 4), spec(3, 4)),
                    Contains("A is 3 x 4") && Contains("B is 3 x 4") && Contains("4 and 3 terms"));
  CHECK_THROWS_WITH(gemm_shape({true, false}, spec(3, 4), spec(4, 5)), Contains("A is 3 x 4, transposed"));
  CHECK_THROWS_WITH(gemm_shape({}, spec(3, 4), spec(4, 5), spec(3, 4)),
                    Contains("product of A and B is 3 x 5") && Contains("C is 3 x 4"));
  CHECK_THROWS_WITH(gemm_shape({}, spec(3, 4), spec(4, 5, PixelType::f64)),
                    Contains("A is of f32 but B of f64"));
  CHECK_THROWS_WITH(gemm_shape({}, spec(3, 4, PixelType::u8), spec(4, 5)), Contains("A is of u8"));
  CHECK_THROWS_WITH(gemm_shape({}, spec(3, 4), spec(4, 5, PixelType::f32, 3)), Contains("B has 3 channels"));
}
