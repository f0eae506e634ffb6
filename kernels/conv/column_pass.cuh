// The column pass on the device: as the row pass, down the columns and out of the caches. Private to conv_cuda.cu.
#pragma once

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/conv/cuda_taps.cuh"
#include "sepconv/kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

template <class A>
struct ColumnPass {
  const A* from;  ///< filtered rows from image row from_row on: strips of kStrip elements, each with all its rows
  std::int64_t from_row, from_rows, elements;
  device::Store<A> store;
  std::int64_t first_row, rows;  ///< image rows of the result
  std::int64_t image_rows;
  int tap_count;
  BorderMode border;
  A constant_row;     ///< every element of a row outside the image under the constant border
  bool joined;        ///< x becomes join(other, x) before it is stored
  device::Op<A> join;
  device::Rows other;
};

/// Adds the taps of one round: the window of rows that slides over them goes from `window` on into `next`.
template <class A, int kOutputs>
__device__ __forceinline__ void add_round(const A (&window)[kOutputs], const A (&next)[kOutputs], const A* taps, int count,
                                          A (&sum)[kOutputs]) {
  A tap[kOutputs];
  load_taps(taps, tap);
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    if (u >= count) break;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      sum[i] = device::fused_multiply_add(tap[u], i + u < kOutputs ? window[i + u] : next[i + u - kOutputs], sum[i]);
    }
  }
}

/// Adds all taps to the sums of kOutputs rows. rows.load(to, count) brings that many of the inputs, one after another, from that under
/// tap 0 of the first row on; kOutputs + tap_count - 1 of them in all.
template <class A, int kOutputs, class Rows>
__device__ __forceinline__ void slide_down(Rows& rows, const A* taps, int tap_count, A (&sum)[kOutputs]) {
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

/// Rows that follow each other in memory.
template <class A>
struct InnerRows {
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

/// Rows of which some lie outside the image, or below the last that is held.
template <class A>
struct BorderedRows {
  const ColumnPass<A>& p;
  const A* column;
  std::int64_t row, last;
  template <int kCount>
  __device__ __forceinline__ void load(A (&to)[kCount], int count) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= count) break;
      const std::int64_t inside = border_index(min(row + i, last), p.image_rows, p.border);
      to[i] = inside < 0 ? p.constant_row : column[(inside - p.from_row) * Tuning::kStrip];
    }
    row += kCount;
  }
};

/// Block (x, y) of kStrip x 4 threads: a thread has one element of kColumnOutputs rows; the groups of rows of a block lie below
/// each other, so that they find each other's inputs in the L1 cache.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kColumnThreads, Tuning::kColumnBlocksPerProcessor)
    column_pass(const __grid_constant__ ColumnPass<A> p, const __grid_constant__ Taps taps) {
  constexpr int kOutputs = kColumnOutputs<A>;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kStrip + threadIdx.x;
  if (element >= p.elements) return;
  const A* const column = p.from + blockIdx.x * p.from_rows * Tuning::kStrip + threadIdx.x;
  for (std::int64_t group = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; group * kOutputs < p.rows;
       group += static_cast<std::int64_t>(gridDim.y) * blockDim.y) {
    const int height = static_cast<int>(min(static_cast<std::int64_t>(kOutputs), p.rows - group * kOutputs));
    const std::int64_t top = p.first_row + group * kOutputs - p.tap_count / 2;
    const std::int64_t last = top + p.tap_count + height - 2;
    A sum[kOutputs] = {};
    if (height == kOutputs && top >= 0 && last < p.image_rows) {
      InnerRows<A> rows{column + (top - p.from_row) * Tuning::kStrip};
      slide_down(rows, taps.at(0), p.tap_count, sum);
    } else {
      BorderedRows<A> rows{p, column, top, last};
      slide_down(rows, taps.at(0), p.tap_count, sum);
    }
    if (p.joined) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) {
        if (i < height) sum[i] = p.join(p.other.template load<A>(group * kOutputs + i, element), sum[i]);
      }
    }
    device::visit(p.store.to.type, [&]<class T>(T) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) {
        if (i < height) p.store.to.template row<T>(group * kOutputs + i)[element] = device::to_pixel<T>(p.store.finished(sum[i]));
      }
    });
  }
}

}  // namespace sepconv::conv_cuda
