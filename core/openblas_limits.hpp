// What OpenBLAS takes of a process's limits. It asks for its buffers again and again, for ever, where it
// cannot have them, and waits for threads that could not be started: whoever loads or calls it has to ask
// before.
#pragma once

#include <cstdint>

namespace sepconv {

/// Address space that this process may still map; no bound without a limit.
std::int64_t free_address_bytes();

/// Threads that OpenBLAS begins with when it is loaded, the caller's included.
int openblas_threads_at_load();

/// What each of them takes for its buffer; memory.c: BUFFER_SIZE of x86-64.
constexpr std::int64_t kOpenBlasBufferBytes = std::int64_t{128} << 20;

/// Upper bound of the address space that this many of its threads take, and of what others may take meanwhile.
std::int64_t openblas_address_bytes(int threads);

/// How many of this many more threads could be started at once.
int startable_threads(int threads);

}  // namespace sepconv
