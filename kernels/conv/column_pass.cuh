// The column pass on the device: like the row pass, but down the columns and with inputs from the caches.
// Private to two_passes.cu.
#pragma once

#include "kernels/conv/border.hpp"
#include "kernels/conv/cuda_taps.cuh"
#include "kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

template <class A>
struct ColumnPass {
  const A* from;  ///< filtered rows from image row from_row on: strips of kStrip elements, each with all rows
  std::int64_t from_row, from_rows, elements;
  device::Store<A> store;
  std::int64_t first_row, rows;  ///< image rows of the result
  std::int64_t image_rows;
  int tap_count;
  BorderMode border;
  A constant_row;  ///< every element of a row outside the image under the constant border
  bool has_join;   ///< x becomes join(other, x) before it is stored
  device::Op<A> join;
  device::Rows operand;
};

/// Adds the taps of one round. The sliding window of rows starts in `window` and continues in `next`.
template <class A, int kOutputs>
__device__ __forceinline__ void add_round(const A (&window)[kOutputs], const A (&next)[kOutputs],
                                          const A* taps, int count, A (&sum)[kOutputs]) {
  A tap[kOutputs];
  load_taps(taps, tap);
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    if (u >= count) break;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      sum[i] = device::fused_multiply_add(tap[u], i + u < kOutputs ? window[i + u] : next[i + u - kOutputs],
                                          sum[i]);
    }
  }
}

/// Consecutive rows of a strip.
template <class A>
struct StripRows {
  const A* at;
  template <int kCount>
  __device__ __forceinline__ void load(A (&to)[kCount], int count) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < count) to[i] = __ldg(at + i * Tuning::kStrip);
    }
    at += kCount * Tuning::kStrip;
  }
};

/// Adds all taps to the sums of kOutputs rows. `rows` begins with the row under tap 0 of the first output.
template <class A, int kOutputs>
__device__ __forceinline__ void slide_down(StripRows<A> rows, const A* taps, int tap_count,
                                           A (&sum)[kOutputs]) {
  A window[kOutputs];
  A next[kOutputs];
  rows.load(window, kOutputs);
  int remaining_taps = tap_count;
  // Two rounds an iteration, so that the two buffers swap roles instead of being copied.
  for (; remaining_taps > 2 * kOutputs; remaining_taps -= 2 * kOutputs) {
    rows.load(next, kOutputs);
    add_round(window, next, taps, kOutputs, sum);
    rows.load(window, kOutputs);
    add_round(next, window, taps + kOutputs, kOutputs, sum);
    taps += 2 * kOutputs;
  }
  if (remaining_taps > kOutputs) {
    rows.load(next, kOutputs);
    add_round(window, next, taps, kOutputs, sum);
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) window[i] = next[i];
    taps += kOutputs;
    remaining_taps -= kOutputs;
  }
  rows.load(next, remaining_taps - 1);
  add_round(window, next, taps, remaining_taps, sum);
}

/// As slide_down, for rows outside the image or below the last available one. Slower, with little code: each
/// input is looked up once and added to all outputs that need it, so that the border code is inlined once.
template <class A, int kOutputs>
__device__ __forceinline__ void slide_over_border(const ColumnPass<A>& p, const A* column, std::int64_t top,
                                                  int height, const A* taps, A (&sum)[kOutputs]) {
  for (int j = 0; j < p.tap_count + height - 1; ++j) {
    const std::int64_t inside = border_index(top + j, p.image_rows, p.border);
    const A value = inside < 0 ? p.constant_row : column[(inside - p.from_row) * Tuning::kStrip];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      const int k = j - i;
      if (k >= 0 && k < p.tap_count) sum[i] = device::fused_multiply_add(taps[k], value, sum[i]);
    }
  }
}

/// Block (x, y) has kStrip x (kColumnThreads / kStrip) threads. A thread computes one element of
/// kColumnOutputs rows. The row groups of a block are adjacent, so that they share inputs in the L1 cache.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kColumnThreads, Tuning::kColumnBlocksPerProcessor)
    column_pass(const __grid_constant__ ColumnPass<A> p, const __grid_constant__ Taps taps) {
  constexpr int kOutputs = kColumnOutputs<A>;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kStrip + threadIdx.x;
  if (element >= p.elements) return;
  const A* const column = p.from + blockIdx.x * p.from_rows * Tuning::kStrip + threadIdx.x;
  for (std::int64_t group = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       group * kOutputs < p.rows; group += static_cast<std::int64_t>(gridDim.y) * blockDim.y) {
    const int height = static_cast<int>(min(static_cast<std::int64_t>(kOutputs), p.rows - group * kOutputs));
    const std::int64_t top = p.first_row + group * kOutputs - p.tap_count / 2;
    const std::int64_t last = top + p.tap_count + height - 2;
    A sum[kOutputs] = {};
    if (height == kOutputs && top >= 0 && last < p.image_rows) {
      slide_down(StripRows<A>{column + (top - p.from_row) * Tuning::kStrip}, taps.at(0), p.tap_count, sum);
    } else {
      slide_over_border(p, column, top, height, taps.at(0), sum);
    }
    if (p.has_join) {
      A operand[kOutputs];
      device::visit(p.operand.type, [&]<class T>(T) {
#pragma unroll
        for (int i = 0; i < kOutputs; ++i) {
          operand[i] = i < height
                           ? static_cast<A>(p.operand.template row<const T>(group * kOutputs + i)[element])
                           : A(0);
        }
      });
      p.join.binary(operand, sum, sum);
    }
    p.store.finish(sum);
    device::visit(p.store.to.type, [&]<class T>(T) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) {
        if (i < height)
          p.store.to.template row<T>(group * kOutputs + i)[element] = device::to_pixel<T>(sum[i]);
      }
    });
  }
}

}  // namespace sepconv::conv_cuda
