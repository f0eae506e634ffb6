// What reading and writing of uncompressed blocks share.
#pragma once

#include <cstdint>

namespace sepconv {

/// What a task reads at once where it cannot read in place, or gathers before it writes: fits the
/// second-level cache.
inline constexpr std::int64_t kScratchBytes = 256 << 10;
/// What a task of a file of strips delivers or takes: large against a task's cost, small against a band.
inline constexpr std::int64_t kTaskBytes = 1 << 20;

}  // namespace sepconv
