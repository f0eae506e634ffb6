// CRC-32 computed by the threads of a block.
#pragma once

#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>

#include "kernels/deflate/crc32.hpp"

namespace sepconv::crc32 {

constexpr int kThreads = 256;

/// Only thread 0 returns the checksum.
__device__ inline std::uint32_t checksum_in_block(const std::uint8_t* message, std::int64_t bytes) {
  static_assert(kThreads == 256);
  __shared__ Products products;
  const std::uint32_t step = power(32 * kThreads);
  for (unsigned byte = 0; byte < 4; ++byte)
    products[byte][threadIdx.x] = multiply(threadIdx.x << 8 * byte, step);
  __syncthreads();
  using Reduce = cub::BlockReduce<std::uint32_t, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const std::uint32_t sum = Reduce(storage).Reduce(part(message, bytes, threadIdx.x, kThreads, products),
                                                   [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
  return whole(sum, bytes);
}

}  // namespace sepconv::crc32
