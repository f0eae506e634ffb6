// What the kernels of order statistics are told, and an element of an image that goes on beyond its edges.
// Private to rank_cuda.cu.
#pragma once

#include <cstdint>

#include "kernels/pointwise/device_op.cuh"
#include "kernels/rank/rank.hpp"

namespace sepconv::rank_kernels {

struct RankCudaTuning {
  static constexpr int kThreads = 128;
  static constexpr int kVectors = 2;             ///< values of a slot in a lane
  static constexpr int kWidth = 32 * kVectors;   ///< values of a slot
  static constexpr int kMinOutputs = 16;         ///< of them that are results, or bisection is as fast
  static constexpr int kSharedBytes = 48 << 10;  ///< of a block
  static constexpr int kMaxWarps = 4;            ///< of a block
  static constexpr int kStepsByValue = 480;      ///< of a network, in one launch
  static constexpr std::int64_t kMaxGridRows = 65535;
};
using Tuning = RankCudaTuning;

/// What all kernels are told: a region of the image or of the planes of a volume under the window, the
/// window, and where results go.
template <class A>
struct Task {
  device::Rows in;  ///< how planes lie
  Rect in_rect, out;
  Extent image;
  std::int64_t channels;
  RankWindow window;
  std::int64_t rank;
  RankMissing missing;
  BorderMode border;
  A constant;
  /// Bits of the values that differ, from the first: those of integers, else of all numbers.
  int bits;
  device::Store<A> store;  ///< how results lie, and what is done to them
  /// Those under the window of the first result, and the next for each further one; blocks have the results
  /// along z. Null: all of it is the constant.
  const std::byte* planes[kMaxDeviceRankPlanes + kMaxDeviceRankResults - 1];
  std::byte* results[kMaxDeviceRankResults];

  __device__ __forceinline__ int plane_count() const {
    return static_cast<int>(window.front + 1 + window.back);
  }
  __device__ __forceinline__ std::int64_t area() const {
    return (window.left + 1 + window.right) * (window.up + 1 + window.down) * plane_count();
  }
  __device__ __forceinline__ const std::byte* plane(int index) const { return planes[blockIdx.z + index]; }
  /// For a plane, which is there.
  template <class T>
  __device__ __forceinline__ const T* row(int index, std::int64_t at) const {
    return reinterpret_cast<const T*>(plane(index) + at * in.pitch_bytes);
  }
  __device__ __forceinline__ void put(std::int64_t at, std::int64_t element, A value) const {
    A x[1] = {value};
    store.finish(x);
    device::Rows to = store.to;
    to.data = results[blockIdx.z];
    to.store(at, element, x[0]);
  }
  /// border_index(), and an image that repeats, which is given as a whole.
  __device__ __forceinline__ std::int64_t mapped(std::int64_t index, std::int64_t size) const {
    if (border != BorderMode::wrap) return border_index(index, size, border);
    const std::int64_t phase = index % size;
    return phase < 0 ? phase + size : phase;
  }
  __device__ __forceinline__ std::int64_t rank_of(std::int64_t there) const {
    return (2 * rank + 1) * there / (2 * area());
  }
};

/// An element at any place of a plane.
template <class T, class A>
__device__ __forceinline__ A value_at(const Task<A>& task, int plane, std::int64_t row, std::int64_t col,
                                      std::int64_t channel) {
  const std::int64_t y = task.mapped(row, task.image.rows);
  const std::int64_t x = task.mapped(col, task.image.cols);
  if (y < 0 || x < 0 || task.plane(plane) == nullptr) return task.constant;
  return static_cast<A>(
      task.template row<T>(plane, y - task.in_rect.row)[(x - task.in_rect.col) * task.channels + channel]);
}

template <class A>
__device__ __forceinline__ A not_a_number() {
  return device::Op<A>::missing();
}

/// The rank among the numbers of a window, of which there are `there`; -1 where the result is missing.
template <class A>
__device__ __forceinline__ std::int64_t rank_among(const Task<A>& task, std::int64_t there, A own) {
  if (there == task.area()) return task.rank;
  if (there == 0 || task.missing == RankMissing::propagate) return -1;
  return task.missing == RankMissing::ignore && own != own ? -1 : task.rank_of(there);
}
}  // namespace sepconv::rank_kernels
