#include "bench/gemm/verify.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "core/geometry.hpp"

namespace sepconv {
namespace {

template <class T>
double squared(T value) {
  return static_cast<double>(value) * static_cast<double>(value);
}

/// Euclidean norms of the rows of a matrix, and of its columns.
template <class T>
std::vector<double> row_norms(const ConstPixelView& matrix, Executor& executor) {
  std::vector<double> norms(static_cast<std::size_t>(matrix.extent.rows));
  executor.for_each(matrix.extent.rows, [&](std::int64_t row, int) {
    double sum = 0;
    for (std::int64_t col = 0; col < matrix.extent.cols; ++col) sum += squared(matrix.row<T>(row)[col]);
    norms[static_cast<std::size_t>(row)] = std::sqrt(sum);
  });
  return norms;
}

template <class T>
std::vector<double> col_norms(const ConstPixelView& matrix) {
  std::vector<double> norms(static_cast<std::size_t>(matrix.extent.cols));
  for (std::int64_t row = 0; row < matrix.extent.rows; ++row) {
    for (std::size_t col = 0; col < norms.size(); ++col) norms[col] += squared(matrix.row<T>(row)[col]);
  }
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

/// Bound of the relative error after `count` roundings (Higham's gamma).
double gamma(double count, double epsilon) {
  const double error = count * epsilon / 2;
  return error < 1 ? error / (1 - error) : std::numeric_limits<double>::infinity();
}

template <class T>
std::optional<WrongElement> find(const GemmOperands& operands, const GemmShape& shape,
                                 const ConstPixelView& out, const ExpectedRows& expected,
                                 Executor& executor) {
  const std::vector<double> left =
      operands.trans_a ? col_norms<T>(operands.a) : row_norms<T>(operands.a, executor);
  const std::vector<double> right =
      operands.trans_b ? row_norms<T>(operands.b, executor) : col_norms<T>(operands.b);
  const double roundings = static_cast<double>(shape.k) + 2;
  const double relative = gamma(roundings, std::numeric_limits<T>::epsilon()) +
                          gamma(roundings, std::numeric_limits<double>::epsilon());
  std::optional<WrongElement> first;
  std::mutex mutex;
  executor.for_each(expected.values.extent.rows, [&](std::int64_t index, int) {
    const std::int64_t row = index * expected.step;
    if (row >= shape.m) return;
    const T* const added = operands.added ? operands.added->row<T>(row) : nullptr;
    for (std::int64_t col = 0; col < shape.n; ++col) {
      const auto actual = static_cast<double>(out.row<T>(row)[col]);
      const double expected_value = expected.values.row<double>(index)[col];
      const double norms = left[static_cast<std::size_t>(row)] * right[static_cast<std::size_t>(col)];
      const double bound =
          relative * (norms + (added != nullptr ? std::abs(static_cast<double>(added[col])) : 0.0));
      if (std::abs(actual - expected_value) <= bound) continue;
      const std::scoped_lock lock(mutex);
      if (!first || row < first->row) first = WrongElement{row, col, actual, expected_value, bound};
      return;
    }
  });
  return first;
}

}  // namespace

std::string to_string(const WrongElement& wrong) {
  return fmt::format("element ({}, {}) is {} instead of {}, and rounding explains {:.1e}", wrong.row,
                     wrong.col, wrong.found, wrong.expected, wrong.bound);
}

std::optional<WrongElement> find_wrong_element(const GemmOperands& operands, const ConstPixelView& out,
                                               const ExpectedRows& expected, Executor& executor) {
  const GemmShape shape = check_gemm_operands(operands, out);
  if (expected.values.type != PixelType::f64 || expected.values.extent.cols != shape.n || expected.step < 1) {
    throw InvalidArgument(
        fmt::format("a product of {} columns is checked against f64 rows of as many: give those", shape.n));
  }
  return out.type == PixelType::f32 ? find<float>(operands, shape, out, expected, executor)
                                    : find<double>(operands, shape, out, expected, executor);
}

}  // namespace sepconv
