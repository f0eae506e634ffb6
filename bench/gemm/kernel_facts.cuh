// What both of the ladder's launchers share. Internal to bench/gemm/.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "bench/gemm/ladder.hpp"

namespace sepconv::gemm_ladders {

/// The kernels ask for no shared memory beyond what they declare.
template <class Kernel>
KernelFacts facts_of(Kernel* kernel, int block_threads) {
  const char* const what = "asking about a kernel of the gemm ladder";
  cudaFuncAttributes attributes{};
  int device = 0, most = 0, blocks = 0;
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), what);
  check_cuda(cudaGetDevice(&device), what);
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device), what);
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, 0), what);
  return {attributes.numRegs, static_cast<std::int64_t>(attributes.sharedSizeBytes), block_threads,
          static_cast<double>(blocks) * block_threads / most};
}

}  // namespace sepconv::gemm_ladders
