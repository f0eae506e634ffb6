// The column pass on the device: as the row pass, down the columns and out of the caches. Private to
// conv_cuda.cu.
#pragma once

#include "kernels/conv/border.hpp"
#include "kernels/conv/cuda_taps.cuh"
#include "kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

template <class A>
struct ColumnPass {
  const A*
      from;  ///< filtered rows from image row from_row on: strips of kStrip elements, each with all its rows
  std::int64_t from_row, from_rows, elements;
  device::Store<A> store;
  std::int64_t first_row, rows;  ///< image rows of the result
  std::int64_t image_rows;
  int tap_count;
  BorderMode border;
  A constant_row;  ///< every element of a row outside the image under the constant border
  bool joined;     ///< x becomes join(other, x) before it is stored
  device::Op<A> join;
  device::Rows other;
};

/// Adds the taps of one round: the window of rows that slides over them goes from `window` on into `next`.
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

/// Rows that follow each other in a strip.
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

/// Adds all taps to the sums of kOutputs rows. `rows` begins with that under tap 0 of the first row.
template <class A, int kOutputs>
__device__ __forceinline__ void slide_down(StripRows<A> rows, const A* taps, int tap_count,
                                           A (&sum)[kOutputs]) {
  A window[kOutputs];
  A next[kOutputs];
  rows.load(window, kOutputs);
  int left = tap_count;
  // Two rounds, so that the window changes its place instead of being moved.
  for (; left > 2 * kOutputs; left -= 2 * kOutputs) {
    rows.load(next, kOutputs);
    add_round(window, next, taps, kOutputs, sum);
    rows.load(window, kOutputs);
    add_round(next, window, taps + kOutputs, kOutputs, sum);
    taps += 2 * kOutputs;
  }
  if (left > kOutputs) {
    rows.load(next, kOutputs);
    add_round(window, next, taps, kOutputs, sum);
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) window[i] = next[i];
    taps += kOutputs;
    left -= kOutputs;
  }
  rows.load(next, left - 1);
  add_round(window, next, taps, left, sum);
}

/// The same for rows of which some lie outside the image, or below the last that is held. Slower and short:
/// every input is looked up once and given to the outputs that it lies under, so that the way over the border
/// is in the code but once.
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

/// Block (x, y) of kStrip x (kColumnThreads / kStrip) threads: a thread has one element of kColumnOutputs
/// rows; the groups of rows of a block lie below each other, so that they find each other's inputs in the L1
/// cache.
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
    if (p.joined) {
      A other[kOutputs];
      device::visit(p.other.type, [&]<class T>(T) {
#pragma unroll
        for (int i = 0; i < kOutputs; ++i) {
          other[i] = i < height ? static_cast<A>(p.other.template row<const T>(group * kOutputs + i)[element])
                                : A(0);
        }
      });
      p.join.binary(other, sum, sum);
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
