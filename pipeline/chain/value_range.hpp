// Ranges of pixel values, and the effect of pixel operations on them.
#pragma once

#include <limits>

#include "io/sample_type.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// The interval [low, high]; by default all values.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  bool is_bounded() const noexcept;
  bool contains(const ValueRange& other) const noexcept { return low <= other.low && other.high <= high; }
  ValueRange include(const ValueRange& other) const noexcept;
  /// The range of factor * x.
  ValueRange scaled(double factor) const noexcept;
  ValueRange plus(const ValueRange& other) const noexcept { return {low + other.low, high + other.high}; }
  double max_magnitude() const noexcept;  ///< maximum absolute value
};

/// The range of an integer type; unbounded for other types.
ValueRange range_of(SampleType type) noexcept;
/// The range of op(a), or of op(a, b) if the operation is binary.
ValueRange range_of(const PointwiseOp& op, const ValueRange& a, const ValueRange& b) noexcept;

}  // namespace sepconv
