// Helpers of the gemm implementations: checks of matrix views and their BLAS parameters. Private to
// kernels/gemm.
#pragma once

#include "kernels/gemm/gemm.hpp"

namespace sepconv {

inline ImageSpec spec_of(const ConstPixelView& view) { return {view.extent, view.channels, view.type}; }

/// Throws InvalidArgument as gemm_shape does.
inline GemmShape checked_shape(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b,
                               const ConstPixelView& out) {
  return gemm_shape(op, spec_of(a), spec_of(b), spec_of(out));
}

/// Elements from row to row: BLAS's leading dimension of a row-major matrix, which must be positive.
inline std::int64_t leading_dimension(const ConstPixelView& view) {
  return view.extent.rows > 1 ? view.pitch_bytes / size_of(view.type)
                              : (view.extent.cols > 1 ? view.extent.cols : 1);
}

}  // namespace sepconv
