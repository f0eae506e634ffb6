#include <cuda_runtime.h>

#include <algorithm>

#include "sepconv/core/geometry.hpp"
#include "sepconv/kernels/cuda/device_copy.hpp"

namespace sepconv {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 4096;

template <class Word>
__global__ void __launch_bounds__(kThreads) copy_words(Word* to, const Word* from, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += stride) to[i] = from[i];
}

template <class Word>
bool copy_if_aligned(void* to, const void* from, std::int64_t bytes, DeviceStream stream) {
  const auto bits = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | static_cast<std::uintptr_t>(bytes);
  if (bits % sizeof(Word) != 0) return false;
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(Word));
  const auto blocks = static_cast<unsigned>(std::min(ceil_div(count, kThreads), kMaxBlocks));
  copy_words<<<blocks, kThreads, 0, stream>>>(static_cast<Word*>(to), static_cast<const Word*>(from), count);
  return true;
}

}  // namespace

void copy_on_device(void* to, const void* from, std::int64_t bytes, DeviceStream stream) {
  if (bytes <= 0) return;
  copy_if_aligned<uint4>(to, from, bytes, stream) || copy_if_aligned<std::uint32_t>(to, from, bytes, stream) ||
      copy_if_aligned<std::uint8_t>(to, from, bytes, stream);
  check_cuda(cudaGetLastError(), "launching a copy");
}

}  // namespace sepconv
