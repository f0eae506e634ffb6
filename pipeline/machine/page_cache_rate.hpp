// Read and write rates of files in the page cache.
#pragma once

#include <cstdint>

namespace sepconv {

/// Rates for files in the page cache, in bytes.
struct PageCacheRate {
  double read_bytes_per_second = 0;   ///< rate of all threads
  double write_bytes_per_second = 0;  ///< rate of one writing thread at a time, to a new file
  double processor_share = 1;         ///< minimum over both measurements, see BestTime
};

/// Writes and reads an in-memory file until the rates no longer improve, some tenths of a second in all.
/// `bytes` limits the memory used; the file has at most 32 MiB. Returns zeros if the system cannot create
/// such a file. Throws OutOfMemory.
PageCacheRate measure_file_limits(int threads, std::int64_t bytes);

}  // namespace sepconv
