// Values beyond the range of f32. Private to pipeline/stages.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace sepconv {

/// Whether one of the values is too large for f32 and would become infinite.
inline bool any_beyond_f32(std::span<const double> values) noexcept {
  return std::ranges::any_of(values, [](double value) {
    return std::abs(value) > static_cast<double>(std::numeric_limits<float>::max());
  });
}

}  // namespace sepconv
