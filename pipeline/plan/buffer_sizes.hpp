// What slots and scratch take, for bands and tiles wherever they lie. Internal to the planner.
#pragma once

#include "pipeline/plan/cost.hpp"

namespace sepconv {

/// Which bands and tiles are looked at.
enum class Places : std::uint8_t {
  few,  ///< the first, the middle and the last: enough to rank candidates
  all,
};

/// Sets the bytes of a slot and of scratch, and the memory that follows from them, of a cut whose band, tile,
/// slots and threads are set.
void set_sizes(const PlanProblem& problem, Tiling& cut, Places places);

/// For page-locked memory, where a GPU says that it has found NaN in the source.
constexpr std::int64_t found_nan_bytes(const ImageSpec& source) noexcept {
  return is_floating(source.type) ? static_cast<std::int64_t>(sizeof(std::int32_t)) : 0;
}

}  // namespace sepconv
