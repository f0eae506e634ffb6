// Buffer and task sizes for uncompressed blocks.
#pragma once

#include <cstdint>

namespace sepconv {

/// Buffer of a task that cannot read in place or must gather before it writes: fits into the L2 cache.
inline constexpr std::int64_t kScratchBytes = 256 << 10;
/// Bytes of pixels per task in a file of strips: large against a task's overhead, small against a band.
inline constexpr std::int64_t kTaskBytes = 1 << 20;

}  // namespace sepconv
