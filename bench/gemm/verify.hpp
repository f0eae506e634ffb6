// Whether a product is right: against one that another program made in f64, within what rounding can do.
#pragma once

#include <optional>
#include <string>

#include "bench/gemm/ladder.hpp"

namespace sepconv {

/// An element that no order of summation explains.
struct WrongElement {
  std::int64_t row = 0, col = 0;
  double found = 0, expected = 0, bound = 0;
};
/// "element (3, 4) is 1.5 instead of 1.25, and rounding explains 1e-06".
std::string to_string(const WrongElement& wrong);

/// Rows of a product that are known in f64: the first one, and every step-th from there.
struct ExpectedRows {
  ConstPixelView values{};
  std::int64_t step = 1;
};

/// The first element that differs too much, if there is one; NaN always does. With u half of epsilon of out's
/// type, sums of k products in any order, with or without fused multiply-add, and one more addition stay
/// within
///   (k + 2) u / (1 - (k + 2) u) (|row i of op(a)| |column j of op(b)| + |added(i, j)|)
/// of the exact value, with Euclidean norms (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
/// 2nd ed., eq. 3.5, and the inequality of Cauchy and Schwarz); the expected values have the same bound with
/// f64's u. Of expected rows those that `out` has are compared; there may be more. Runs on the executor's
/// threads. Throws InvalidArgument as check_gemm_operands does.
std::optional<WrongElement> find_wrong_element(const GemmOperands& operands, const ConstPixelView& out,
                                               const ExpectedRows& expected, Executor& executor);

}  // namespace sepconv
