// What this process may use of the machine, and what it uses.
#pragma once

#include <cstdint>

namespace sepconv {

/// Memory that can be had now without swapping: the least of MemAvailable, the cgroup's limit less its use,
/// and what the process may still map.
std::int64_t free_memory_bytes();
/// Processors this process may run on (affinity and cgroup quota).
int usable_processors();

/// Peak resident set of this process so far, in bytes.
std::int64_t peak_rss_bytes();
/// What of it is resident now; 0 where the system does not say.
std::int64_t resident_bytes();

}  // namespace sepconv
