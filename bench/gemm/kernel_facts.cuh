// Register, shared memory and occupancy figures of a kernel, for both launchers. Internal to bench/gemm/.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "bench/gemm/variants.hpp"

namespace sepconv::gemm_variants {

/// For kernels without dynamic shared memory.
template <class Kernel>
KernelFacts facts_of(Kernel* kernel, int block_threads) {
  const char* const context = "asking about a kernel of the gemm benchmark";
  cudaFuncAttributes attributes{};
  int device = 0, max_threads = 0, blocks = 0;
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), context);
  check_cuda(cudaGetDevice(&device), context);
  check_cuda(cudaDeviceGetAttribute(&max_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device), context);
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, 0), context);
  return {attributes.numRegs, static_cast<std::int64_t>(attributes.sharedSizeBytes), block_threads,
          static_cast<double>(blocks) * block_threads / max_threads};
}

}  // namespace sepconv::gemm_variants
