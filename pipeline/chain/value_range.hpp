// What values may be, as a stage is asked for it: intervals, and what pixel operations make of them.
#pragma once

#include <limits>

#include "io/sample_type.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// All values from low to high; by default any.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  bool is_bounded() const noexcept;
  bool contains(const ValueRange& other) const noexcept { return low <= other.low && other.high <= high; }
  ValueRange include(const ValueRange& other) const noexcept;
  /// For factor * x.
  ValueRange scaled(double factor) const noexcept;
  ValueRange plus(const ValueRange& other) const noexcept { return {low + other.low, high + other.high}; }
  double max_magnitude() const noexcept;  ///< the largest magnitude
};

/// What integers of this type may be; any value of other types.
ValueRange range_of(SampleType type) noexcept;
/// For what the operation makes of a, and of b if it is binary.
ValueRange range_of(const PointwiseOp& op, const ValueRange& a, const ValueRange& b) noexcept;

}  // namespace sepconv
