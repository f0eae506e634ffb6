// Arguments of the order statistic kernels, and access to elements with the border. Private to rank_cuda.cu.
#pragma once

#include <cstdint>

#include "kernels/pointwise/device_op.cuh"
#include "kernels/rank/rank.hpp"

namespace sepconv::rank_kernels {

struct RankCudaTuning {
  static constexpr int kThreads = 128;
  static constexpr int kVectors = 2;            ///< values of a slot in a lane
  static constexpr int kWidth = 32 * kVectors;  ///< values of a slot
  static constexpr int kMinOutputs = 16;  ///< minimum results of a slot; with fewer, bisection is as fast
  static constexpr int kSharedBytes = 48 << 10;  ///< of a block
  static constexpr int kMaxWarps = 4;            ///< of a block
  static constexpr int kStepsByValue = 480;      ///< steps of a network in one launch
  static constexpr std::int64_t kMaxGridRows = 65535;
};
using Tuning = RankCudaTuning;

/// Arguments of all kernels: the region of the image, or of the volume's planes under the window, the window,
/// and the destination.
template <class A>
struct Task {
  device::Rows in;  ///< type and pitch of planes
  Rect in_rect, out;
  Extent image;
  std::int64_t channels;
  RankWindow window;
  std::int64_t rank;
  RankMissing missing;
  BorderMode border;
  A constant;
  /// Bits of integer values; 64 for others.
  int bits;
  device::Store<A> store;  ///< layout of results, and operations on them
  /// The planes under the window of the first result, and one more for each further result; blockIdx.z is the
  /// result. Null: the border's constant.
  const std::byte* planes[kMaxDeviceRankPlanes + kMaxDeviceRankResults - 1];
  std::byte* results[kMaxDeviceRankResults];

  __device__ __forceinline__ int plane_count() const {
    return static_cast<int>(window.front + 1 + window.back);
  }
  __device__ __forceinline__ std::int64_t area() const {
    return (window.left + 1 + window.right) * (window.up + 1 + window.down) * plane_count();
  }
  __device__ __forceinline__ const std::byte* plane(int index) const { return planes[blockIdx.z + index]; }
  /// A row of a plane that exists.
  template <class T>
  __device__ __forceinline__ const T* row(int index, std::int64_t at) const {
    return reinterpret_cast<const T*>(plane(index) + at * in.pitch_bytes);
  }
  __device__ __forceinline__ void store_value(std::int64_t at, std::int64_t element, A value) const {
    A x[1] = {value};
    store.finish(x);
    device::Rows to = store.to;
    to.data = results[blockIdx.z];
    to.store(at, element, x[0]);
  }
  /// border_index() that also supports BorderMode::wrap, for a whole image.
  __device__ __forceinline__ std::int64_t mapped(std::int64_t index, std::int64_t size) const {
    if (border != BorderMode::wrap) return border_index(index, size, border);
    const std::int64_t phase = index % size;
    return phase < 0 ? phase + size : phase;
  }
  __device__ __forceinline__ std::int64_t rank_of(std::int64_t valid_count) const {
    return (2 * rank + 1) * valid_count / (2 * area());
  }
};

/// An element of a plane or its border.
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

/// The rank among the `valid_count` valid numbers of a window; -1 if the result is missing. `centre` is the
/// centre.
template <class A>
__device__ __forceinline__ std::int64_t rank_among(const Task<A>& task, std::int64_t valid_count, A centre) {
  if (valid_count == task.area()) return task.rank;
  if (valid_count == 0 || task.missing == RankMissing::propagate) return -1;
  return task.missing == RankMissing::ignore && centre != centre ? -1 : task.rank_of(valid_count);
}
}  // namespace sepconv::rank_kernels
