// Shared by the launches of the fused kernels: segment sizes and occupancy. Private to fused*.cu.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "core/geometry.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv::conv_cuda {

/// Rows of a segment, a multiple of `step`. Blocks run in waves of `resident_blocks`. A segment also filters
/// the halo rows above its first row, so long segments do less work. Several whole waves leave no
/// multiprocessor idle or alone with the image's edges at the end. A block's fixed cost is that of
/// `overhead_rows` rows.
inline std::int64_t segment_rows(std::int64_t rows, std::int64_t strips, std::int64_t resident_blocks,
                                 std::int64_t step, std::int64_t overhead_rows) {
  constexpr int kMinWaves = 3, kMaxWaves = 8;
  std::int64_t best = rows, min_cost = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t waves = kMinWaves; waves <= kMaxWaves; ++waves) {
    const std::int64_t segments = std::max<std::int64_t>(1, waves * resident_blocks / strips);
    const std::int64_t height = round_up(ceil_div(rows, segments), step);
    const std::int64_t blocks = ceil_div(rows, height) * strips;
    const std::int64_t cost = ceil_div(blocks, resident_blocks) * (height + overhead_rows);
    if (cost < min_cost) min_cost = cost, best = height;
  }
  return best;
}

/// Occupancy of the current GPU by a kernel.
struct Occupancy {
  int blocks = 0;  ///< resident blocks per multiprocessor; 0: shared memory is too small
  int processors = 0;
  bool copies_async = false;  ///< supports cp.async from global to shared memory
};

/// Occupancy for blocks with `shared_bytes` of dynamic shared memory. Cached, because the query takes longer
/// than the launch of a small image.
template <class Kernel>
Occupancy occupancy_of(Kernel* kernel, int threads, std::size_t shared_bytes) {
  static std::mutex mutex;
  static std::map<std::tuple<int, Kernel*, int, std::size_t>, Occupancy> cache;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  const std::lock_guard lock(mutex);
  const std::tuple key{device, kernel, threads, shared_bytes};
  if (const auto found = cache.find(key); found != cache.end()) return found->second;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for a GPU's properties");
    return value;
  };
  Occupancy occupancy{0, attribute(cudaDevAttrMultiProcessorCount),
                      attribute(cudaDevAttrComputeCapabilityMajor) >= 8};
  const int max_shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (shared_bytes <= static_cast<std::size_t>(max_shared_bytes)) {
    if (shared_bytes > 0) {
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes),
                 "asking for shared memory");
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      cudaSharedmemCarveoutMaxShared),
                 "asking for shared memory");
    }
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occupancy.blocks, kernel, threads, shared_bytes),
        "asking for occupancy");
  }
  return cache[key] = occupancy;
}

}  // namespace sepconv::conv_cuda
