// Ranks of any window by bisection of the value. Private to rank_cuda.cu.
#pragma once

#include "kernels/rank/rank_task.cuh"

namespace sepconv::rank_kernels {

/// Numbers as integers in the same order, and back.
__device__ __forceinline__ std::uint32_t key_of(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  return bits >> 31 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ std::uint64_t key_of(double value) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  return bits >> 63 ? ~bits : bits | 0x8000000000000000ULL;
}
__device__ __forceinline__ float value_of(std::uint32_t key) {
  return __uint_as_float(key >> 31 ? key ^ 0x80000000U : ~key);
}
__device__ __forceinline__ double value_of(std::uint64_t key) {
  return __longlong_as_double(static_cast<long long>(key >> 63 ? key ^ 0x8000000000000000ULL : ~key));
}

/// Calls action(value) for all values of a window; `row` and `col` are those of the pixel.
template <class T, class A, class Action>
__device__ __forceinline__ void for_each_value(const Task<A>& task, std::int64_t row, std::int64_t col,
                                               std::int64_t channel, const Action& action) {
  const RankWindow& window = task.window;
  const bool inside = col >= window.left && col + window.right < task.image.cols;
  const int width = static_cast<int>(window.left + 1 + window.right);
  for (int plane = 0; plane < task.plane_count(); ++plane) {
    for (std::int64_t y = row - window.up; y <= row + window.down; ++y) {
      const std::int64_t from_row = task.mapped(y, task.image.rows);
      if (inside && from_row >= 0 && task.plane(plane) != nullptr) {
        const T* const from = task.template row<T>(plane, from_row - task.in_rect.row) +
                              (col - window.left - task.in_rect.col) * task.channels + channel;
        for (int i = 0; i < width; ++i) action(static_cast<A>(from[i * task.channels]));
      } else {
        for (std::int64_t x = col - window.left; x <= col + window.right; ++x)
          action(value_at<T>(task, plane, y, x, channel));
      }
    }
  }
}

/// The value of a rank, found bit by bit: the largest value with at most `rank` of the window's numbers
/// below it.
template <class T, class A>
__device__ A bisect(const Task<A>& task, std::int64_t row, std::int64_t col, std::int64_t channel) {
  using Key = decltype(key_of(A()));
  int valid_count = 0;
  for_each_value<T>(task, row, col, channel, [&](A value) { valid_count += value == value ? 1 : 0; });
  const std::int64_t rank = rank_among(
      task, valid_count, value_at<T>(task, static_cast<int>(task.window.front), row, col, channel));
  if (rank < 0) return not_a_number<A>();
  const auto find = [&](auto found, int bits, auto max_key, const auto& as_value) {
    for (int bit = bits - 1; bit >= 0; --bit) {
      const auto next = found + (static_cast<decltype(found)>(1) << bit);
      if (next > max_key) continue;
      const A bound = as_value(next);
      int less = 0;
      for_each_value<T>(task, row, col, channel, [&](A value) { less += value < bound ? 1 : 0; });
      if (less <= rank) found = next;
    }
    return as_value(found) + A(0);
  };
  if constexpr (std::is_integral_v<T>)
    if (task.bits < 32)
      return find(std::is_signed_v<T> ? -32768 : 0, task.bits, 65535,
                  [](int key) { return static_cast<A>(key); });
  return find(Key(0), static_cast<int>(8 * sizeof(Key)), key_of(A(INFINITY)),
              [](Key key) { return value_of(key); });
}

template <class A>
__global__ void __launch_bounds__(Tuning::kThreads) bisect_windows(const __grid_constant__ Task<A> task) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads + threadIdx.x;
  if (element >= task.out.cols * task.channels) return;
  const std::int64_t col = task.out.col + element / task.channels, channel = element % task.channels;
  device::visit(task.in.type, [&]<class T>(T) {
    for (std::int64_t y = blockIdx.y; y < task.out.rows; y += gridDim.y)
      task.store_value(y, element, bisect<T>(task, task.out.row + y, col, channel));
  });
}
}  // namespace sepconv::rank_kernels
