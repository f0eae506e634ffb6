// Iteration of a block's threads over the literals of a zstd block, which are the bytes outside its matches.
#pragma once

#include <cuda_runtime.h>

#include <cub/block/block_scan.cuh>

#include "kernels/deflate/block_threads.cuh"

namespace sepconv::zstd {

using deflate::DeviceBlock;
using deflate::DeviceTiles;
using deflate::kBytesAtOnce;
using deflate::kThreads;

/// A number of literals and the number of their bits; in a block both are below 2^20.
struct Amount {
  std::uint32_t literals, bits;
  __device__ friend Amount operator+(Amount a, Amount b) {
    return {a.literals + b.literals, a.bits + b.bits};
  }
};

/// The literals among the kBytesAtOnce bytes of a thread.
struct LiteralPart : deflate::LiteralBytes {
  using LiteralBytes::LiteralBytes;

  /// Calls visit(byte) in ascending or, if kBackwards, descending order.
  template <bool kBackwards, class Visit>
  __device__ void for_each(const Visit& visit) const {
#pragma unroll
    for (int i = 0; i < kBytesAtOnce; ++i) {
      const int at = kBackwards ? kBytesAtOnce - 1 - i : i;
      if (mask >> at & 1) visit(byte(at));
    }
  }
};

using AmountScan = cub::BlockScan<std::uint64_t, kThreads>;

/// Calls visit(part, before) for this thread's parts of a block; `before` is the amount of literals before
/// the part. bits_of(byte) is the length of a code. Called by all threads, which call visit together.
template <class BitsOf, class Visit>
__device__ void for_each_part(const std::uint8_t* data, int size, const std::uint32_t* covered,
                              AmountScan::TempStorage& storage, const BitsOf& bits_of, const Visit& visit) {
  std::uint64_t done = 0;
  for (int begin = 0; begin < size; begin += kThreads * kBytesAtOnce) {
    const LiteralPart part(data, size, covered, begin + static_cast<int>(threadIdx.x) * kBytesAtOnce);
    std::uint64_t amount = std::uint64_t{static_cast<unsigned>(__popc(part.mask))} << 32;
    part.for_each<false>([&](unsigned byte) { amount += bits_of(byte); });
    std::uint64_t before = 0, total = 0;
    AmountScan(storage).ExclusiveSum(amount, before, total);
    __syncthreads();  // before the storage is used again
    before += done;
    visit(part, Amount{static_cast<std::uint32_t>(before >> 32), static_cast<std::uint32_t>(before)});
    done += total;
  }
}

}  // namespace sepconv::zstd
