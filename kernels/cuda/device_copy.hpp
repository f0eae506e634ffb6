// Copies within device memory by a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sepconv/kernels/cuda/runtime.hpp"

namespace sepconv {

/// Copies `bytes` within the memory of the current device, in stream order; the ranges must not overlap. By a kernel and not by
/// cudaMemcpyAsync, which may queue on a copy engine behind a transfer over the bus. Throws CudaError.
void copy_on_device(void* to, const void* from, std::int64_t bytes, DeviceStream stream);

}  // namespace sepconv
