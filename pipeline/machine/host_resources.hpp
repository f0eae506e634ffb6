// Memory and processors that this process may use and uses.
#pragma once

#include <cstdint>

namespace sepconv {

/// Bytes that can be allocated now without swapping: the minimum of MemAvailable, the cgroup's limit minus
/// its usage, and the address space left to the process.
std::int64_t free_memory_bytes();
/// Processors this process may run on (affinity and cgroup quota).
int usable_processors();

/// Peak resident set of this process so far, in bytes.
std::int64_t peak_rss_bytes();
/// Resident set of this process now, in bytes; 0 if the system does not report it.
std::int64_t resident_bytes();

}  // namespace sepconv
