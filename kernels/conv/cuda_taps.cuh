// Tuning of the two-pass convolution kernels, and the memory of their taps. Private to two_passes.cu.
#pragma once

#include <algorithm>
#include <vector>

#include "core/memory.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv::conv_cuda {

struct ConvCudaTuning {
  /// Pixels of a row that a thread of the row pass computes, and taps of a round of both passes.
  static constexpr int kOutputs = 16;
  static constexpr int kRowThreads = 128;
  static constexpr int kRowBlocksPerProcessor =
      9;  ///< minimum: leaves a thread 56 registers; a few spills, still faster
  static constexpr int kColumnThreads = 128;
  static constexpr int kColumnBlocksPerProcessor = 5;  ///< minimum: leaves a thread 102 registers
  static constexpr int kStrip = 64;  ///< elements of a row that a block of the column pass covers and that
                                     ///< are contiguous between the passes
  static constexpr int kTapsByValue =
      1008;  ///< filters up to this many taps are a kernel parameter, in constant memory
  static constexpr int kSegmentTaps =
      256;  ///< taps whose inputs the row pass stages together; a multiple of kOutputs
  static constexpr int kSharedBytes = 40 << 10;
  static constexpr int kMaxGridRows = 65535;
};
using Tuning = ConvCudaTuning;

/// Rows of output that a thread of the column pass computes: an f64 value takes two registers.
template <class A>
constexpr int kColumnOutputs = sizeof(A) == 4 ? Tuning::kOutputs : Tuning::kOutputs / 2;

/// Taps of one 16-byte load.
template <class A>
struct alignas(16) TapVector {
  static constexpr int kCount = 16 / sizeof(A);
  A tap[kCount];
};

/// Taps as a kernel parameter, in constant memory that no other launch can overwrite. Padded with zeros,
/// which are loaded but not applied.
template <class A>
struct TapsByValue {
  alignas(16) A tap[Tuning::kTapsByValue];
  __device__ __forceinline__ const A* at(int k) const { return tap + k; }
};

/// Taps of longer filters in device memory, written in stream order before the launch and padded likewise.
template <class A>
struct TapsInMemory {
  const A* tap;
  __device__ __forceinline__ const A* at(int k) const { return tap + k; }
};

/// Loads kCount taps into registers. `from` is aligned to a TapVector.
template <int kCount, class A>
__device__ __forceinline__ void load_taps(const A* from, A (&taps)[kCount]) {
  constexpr int kVector = TapVector<A>::kCount;
#pragma unroll
  for (int i = 0; i < kCount; i += kVector) {
    const TapVector<A> vector = *reinterpret_cast<const TapVector<A>*>(from + i);
#pragma unroll
    for (int j = 0; j < kVector; ++j) taps[i + j] = vector.tap[j];
  }
}

/// Capacity for `count` taps that are loaded a round at a time.
constexpr std::int64_t padded_taps(std::int64_t count) { return round_up(count, Tuning::kOutputs); }

/// Writes a part of a long filter, passed as a kernel parameter, to device memory in stream order.
template <class A>
__global__ void store_taps(const __grid_constant__ TapsByValue<A> part, A* to, int count) {
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x))
    to[k] = part.tap[k];
}

/// Calls launch(taps) with TapsByValue or, for long filters, TapsInMemory.
template <class A, class Launch>
void with_taps(const std::vector<double>& taps, Arena& arena, DeviceStream stream, const Launch& launch) {
  const auto part_from = [&](std::size_t first, std::size_t count) {
    TapsByValue<A> part{};
    for (std::size_t k = 0; k < count; ++k) part.tap[k] = static_cast<A>(taps[first + k]);
    return part;
  };
  if (taps.size() <= Tuning::kTapsByValue) return launch(part_from(0, taps.size()));
  A* const memory = arena.allocate<A>(padded_taps(static_cast<std::int64_t>(taps.size())));
  for (std::size_t first = 0; first < taps.size(); first += Tuning::kTapsByValue) {
    const std::size_t count = std::min<std::size_t>(Tuning::kTapsByValue, taps.size() - first);
    store_taps<A><<<1, Tuning::kColumnThreads, 0, stream>>>(
        part_from(first, count), memory + first,
        static_cast<int>(padded_taps(static_cast<std::int64_t>(count))));
  }
  launch(TapsInMemory<A>{memory});
}

}  // namespace sepconv::conv_cuda
