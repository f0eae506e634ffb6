// How fast the system takes and gives the bytes of files that it has in memory.
#pragma once

#include "sepconv/pipeline/machine/host_limits.hpp"
#include "sepconv/pipeline/machine/thread_pool.hpp"

namespace sepconv {

/// Writes a file of 64 MiB that is in memory alone, and reads it, until that gets no faster: 20 to 250
/// milliseconds each. Nothing (0) where the system has no such files or no room for one. Throws OutOfMemory.
FileLimits measure_file_limits(ThreadPool& pool);

}  // namespace sepconv
