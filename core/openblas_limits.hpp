// Resource use of OpenBLAS under a process's limits. OpenBLAS retries forever if it cannot allocate its
// buffers, and waits for threads that could not be started, so callers must check the limits before they load
// or call it.
#pragma once

#include <cstdint>

namespace sepconv {

/// Address space in bytes that this process may still map; the maximum of the type if there is no limit.
std::int64_t free_address_bytes();

/// Number of threads that OpenBLAS starts with when it is loaded, including the caller's.
int openblas_threads_at_load();

/// Bytes of each thread's buffer; BUFFER_SIZE of x86-64 in memory.c.
constexpr std::int64_t kOpenBlasBufferBytes = std::int64_t{128} << 20;

/// Upper bound in bytes of the address space of this many OpenBLAS threads, with a margin for other threads.
std::int64_t openblas_address_bytes(int threads);

/// Number of up to `threads` additional threads that can be started simultaneously; starts them to find out.
int startable_threads(int threads);

}  // namespace sepconv
