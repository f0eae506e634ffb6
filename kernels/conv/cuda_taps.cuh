// Tuning of the convolution kernels, and where their taps lie. Private to conv_cuda.cu.
#pragma once

#include <algorithm>
#include <vector>

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"

namespace sepconv::conv_cuda {

struct ConvCudaTuning {
  static constexpr int kThreads = 256;
  static constexpr int kRowOutputs = 8;     ///< pixels of a row that a thread of the row pass computes
  static constexpr int kBlockCols = 64;     ///< elements of a row that a block of the column pass covers
  static constexpr int kTapsByValue = 1001; ///< filters up to this many taps are a kernel parameter, in constant memory
  static constexpr int kSegmentTaps = 256;  ///< taps whose inputs the row pass stages at once; a multiple of kRowOutputs
  static constexpr int kSharedBytes = 40 << 10;
  static constexpr int kMaxGridRows = 65535;
  /// Rows of output that a thread of the column pass computes, in f32 and in f64, which takes two registers a value.
  static constexpr int kColumnOutputs = 16;
  static constexpr int kColumnOutputsWide = 8;
};
using Tuning = ConvCudaTuning;

template <class A>
constexpr int kColumnOutputs = sizeof(A) == 4 ? Tuning::kColumnOutputs : Tuning::kColumnOutputsWide;

/// Taps as a parameter: constant memory that no other launch can overwrite.
template <class A>
struct TapsByValue {
  A tap[Tuning::kTapsByValue];
  __device__ __forceinline__ A operator[](int k) const { return tap[k]; }
};

/// Longer filters: device memory, written in stream order before the launch.
template <class A>
struct TapsInMemory {
  const A* tap;
  __device__ __forceinline__ A operator[](int k) const { return __ldg(tap + k); }
};

/// Writes a part of a long filter, which travels as a parameter, to device memory in stream order.
template <class A>
__global__ void store_taps(const __grid_constant__ TapsByValue<A> part, A* to, int count) {
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) to[k] = part.tap[k];
}

/// Calls launch(taps) with the taps in the place that their number asks for.
template <class A, class Launch>
void with_taps(const std::vector<double>& taps, Arena& arena, DeviceStream stream, const Launch& launch) {
  const auto part_from = [&](std::size_t first, std::size_t count) {
    TapsByValue<A> part{};
    for (std::size_t k = 0; k < count; ++k) part.tap[k] = static_cast<A>(taps[first + k]);
    return part;
  };
  if (taps.size() <= Tuning::kTapsByValue) return launch(part_from(0, taps.size()));
  A* const memory = arena.allocate<A>(static_cast<std::int64_t>(taps.size()));
  for (std::size_t first = 0; first < taps.size(); first += Tuning::kTapsByValue) {
    const std::size_t count = std::min<std::size_t>(Tuning::kTapsByValue, taps.size() - first);
    store_taps<A><<<1, Tuning::kThreads, 0, stream>>>(part_from(first, count), memory + first, static_cast<int>(count));
  }
  launch(TapsInMemory<A>{memory});
}

}  // namespace sepconv::conv_cuda
