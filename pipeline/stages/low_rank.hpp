// Sums of separable kernels. Private to pipeline/stages.
#pragma once

#include <vector>

#include "kernels/conv/conv.hpp"
#include "pipeline/stages/read_matrix.hpp"

namespace sepconv {

/// Separable kernels whose sum approximates a kernel.
struct LowRank {
  std::vector<SeparableTaps> terms;
  double error = 0;  ///< sum of the absolute differences over the sum of the absolute weights
};

/// The fewest terms of the singular value decomposition with an error of at most `tolerance`: at least one, at
/// most `max_terms`. One-sided Jacobi: G. H. Golub and C. F. Van Loan, Matrix Computations, 8.6.3.
LowRank low_rank(const Table& kernel, double tolerance, std::size_t max_terms);

}  // namespace sepconv
