// What launches of the fused kernels have in common: how large segments are, and what the GPU has room for.
// Private to fused*.cu.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "core/geometry.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv::conv_cuda {

/// Rows of a segment. Blocks run in waves of as many as the GPU holds; a segment begins with the rows under
/// the taps of its first row, so long segments do the smallest work; several whole waves leave no processor
/// idle, and none alone with the image's edges at the end. They are a multiple of `step`; what a block does
/// next to them takes the time of `lost` rows.
inline std::int64_t segment_rows(std::int64_t rows, std::int64_t strips, std::int64_t resident_blocks,
                                 std::int64_t step, std::int64_t lost) {
  constexpr int kMinWaves = 3, kMaxWaves = 8;
  std::int64_t best = rows, least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t waves = kMinWaves; waves <= kMaxWaves; ++waves) {
    const std::int64_t segments = std::max<std::int64_t>(1, waves * resident_blocks / strips);
    const std::int64_t height = round_up(ceil_div(rows, segments), step);
    const std::int64_t blocks = ceil_div(rows, height) * strips;
    const std::int64_t cost = ceil_div(blocks, resident_blocks) * (height + lost);
    if (cost < least) least = cost, best = height;
  }
  return best;
}

/// What the current GPU does with a kernel.
struct Occupancy {
  int blocks = 0;  ///< that a processor holds at once; 0: it has not that much shared memory
  int processors = 0;
  bool copies_async = false;  ///< from global to shared memory
};

/// For blocks of `shared_bytes` whose size the launch decides. Asked once: the question takes longer than the
/// launch of a small image.
template <class Kernel>
Occupancy occupancy_of(Kernel* kernel, int threads, std::size_t shared_bytes) {
  static std::mutex mutex;
  static std::map<std::tuple<int, Kernel*, int, std::size_t>, Occupancy> known;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  const std::lock_guard lock(mutex);
  const std::tuple key{device, kernel, threads, shared_bytes};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for a GPU's properties");
    return value;
  };
  Occupancy occupancy{0, attribute(cudaDevAttrMultiProcessorCount),
                      attribute(cudaDevAttrComputeCapabilityMajor) >= 8};
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (shared_bytes <= static_cast<std::size_t>(most)) {
    if (shared_bytes > 0) {
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                 "asking for shared memory");
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      cudaSharedmemCarveoutMaxShared),
                 "asking for shared memory");
    }
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occupancy.blocks, kernel, threads, shared_bytes),
        "asking for occupancy");
  }
  return known[key] = occupancy;
}

}  // namespace sepconv::conv_cuda
