// How fast the system takes and gives the bytes of files that it has in memory.
#pragma once

#include <cstdint>

namespace sepconv {

/// For files that the page cache has, bytes of them.
struct PageCacheRate {
  double read_bytes_per_second = 0;   ///< by all threads
  double write_bytes_per_second = 0;  ///< into a new file, into which one thread writes at a time
  double processor_share = 1;         ///< the smallest that measuring one of them had, see BestTime
};

/// Writes a file that is in memory alone, and reads it, until that gets no faster: some tenths of a second in
/// all. `bytes`: upper bound of what it takes; a file of 32 MiB at most. Nothing (0) where the system has no
/// such files or no room for one. Throws OutOfMemory.
PageCacheRate measure_file_limits(int threads, std::int64_t bytes);

}  // namespace sepconv
