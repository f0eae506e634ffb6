// Compares a product with one that another library computed in f64, within the rounding error bound.
#pragma once

#include <optional>
#include <string>

#include "bench/gemm/variants.hpp"

namespace sepconv {

/// An element whose error exceeds the bound for any order of summation.
struct WrongElement {
  std::int64_t row = 0, col = 0;
  double found = 0, expected = 0, bound = 0;
};
/// "element (3, 4) is 1.5 instead of 1.25, and rounding explains 1e-06".
std::string to_string(const WrongElement& wrong);

/// Expected rows of a product in f64: row 0, row `step`, row 2 * `step` and so on.
struct ExpectedRows {
  ConstPixelView values{};
  std::int64_t step = 1;
};

/// The first element whose error exceeds the bound, if any; NaN always does. With u half of epsilon of out's
/// type, sums of k products in any order, with or without fused multiply-add, and one more addition stay
/// within
///   (k + 2) u / (1 - (k + 2) u) (|row i of op(a)| |column j of op(b)| + |added(i, j)|)
/// of the exact value, with Euclidean norms (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
/// 2nd ed., eq. 3.5, and the Cauchy-Schwarz inequality). The expected values have the same bound with f64's
/// u. Expected rows beyond the end of `out` are ignored. Runs on the executor's threads. Throws
/// InvalidArgument as check_gemm_operands does.
std::optional<WrongElement> find_wrong_element(const GemmOperands& operands, const ConstPixelView& out,
                                               const ExpectedRows& expected, Executor& executor);

}  // namespace sepconv
