// Bytes of slots and scratch for bands and tiles at any position. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Which bands and tiles are examined.
enum class Sampling : std::uint8_t {
  few,  ///< the first, the middle and the last: enough to rank candidates
  all,
};

/// Sets the slot and scratch bytes and the total memory of a tiling whose band, tile, slots and threads are
/// set.
void set_sizes(const PlanProblem& problem, Tiling& cut, Sampling sampling);

/// Bytes of page-locked memory for the flag by which a GPU reports NaN in the source.
constexpr std::int64_t found_nan_bytes(const ImageSpec& source) noexcept {
  return is_floating(source.type) ? static_cast<std::int64_t>(sizeof(std::int32_t)) : 0;
}

}  // namespace sepconv
