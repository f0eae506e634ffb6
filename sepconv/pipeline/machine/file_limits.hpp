// How fast the system takes and gives the bytes of files that it has in memory.
#pragma once

#include "sepconv/pipeline/machine/host_limits.hpp"
#include "sepconv/pipeline/machine/thread_pool.hpp"

namespace sepconv {

/// Writes a file that is in memory alone, and reads it, until that gets no faster: some tenths of a second in
/// all. `bytes`: upper bound of what it takes; a file of 32 MiB at most. Nothing (0) where the system has no
/// such files or no room for one. Throws OutOfMemory.
FileLimits measure_file_limits(ThreadPool& pool, std::int64_t bytes);

}  // namespace sepconv
