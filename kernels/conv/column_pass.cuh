// The column pass on the device: as the row pass, down the columns and out of the caches. Private to conv_cuda.cu.
#pragma once

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/conv/cuda_taps.cuh"
#include "sepconv/kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

template <class A>
struct ColumnPass {
  const A* from;  ///< filtered rows, dense, from image row from_row on
  std::int64_t from_row, elements;
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

/// Adds all taps to the sums of kOutputs rows. value(j) is the input under tap 0 of row 0, j rows further down.
template <class A, class Taps, int kOutputs, class Value>
__device__ __forceinline__ void slide_down(const Value& value, const Taps& taps, int tap_count, A (&sum)[kOutputs]) {
  A window[kOutputs];
  A next[kOutputs];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) window[i] = value(i);
  int k = 0;
  for (; k + kOutputs <= tap_count; k += kOutputs) {
    // Load a window ahead: its latency passes behind kOutputs * kOutputs multiply-adds.
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) next[i] = value(k + kOutputs + i);
#pragma unroll
    for (int u = 0; u < kOutputs; ++u) {
      const A tap = taps[k + u];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) {
        sum[i] = device::fused_multiply_add(tap, i + u < kOutputs ? window[i + u] : next[i + u - kOutputs], sum[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) window[i] = next[i];
  }
  const int left = tap_count - k;
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    if (i + 1 < left) next[i] = value(k + kOutputs + i);
  }
#pragma unroll
  for (int u = 0; u < kOutputs - 1; ++u) {
    if (u >= left) break;
    const A tap = taps[k + u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      sum[i] = device::fused_multiply_add(tap, i + u < kOutputs ? window[i + u] : next[i + u - kOutputs], sum[i]);
    }
  }
}

/// Block (x, y) of kBlockCols x 4 threads: a thread has one element of kColumnOutputs rows; the groups of rows of a block lie below
/// each other, so that they find each other's inputs in the L1 cache.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kThreads)
    column_pass(const __grid_constant__ ColumnPass<A> p, const __grid_constant__ Taps taps) {
  constexpr int kOutputs = kColumnOutputs<A>;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kBlockCols + threadIdx.x;
  if (element >= p.elements) return;
  const A* const column = p.from + element;
  for (std::int64_t group = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; group * kOutputs < p.rows;
       group += static_cast<std::int64_t>(gridDim.y) * blockDim.y) {
    const int height = static_cast<int>(min(static_cast<std::int64_t>(kOutputs), p.rows - group * kOutputs));
    const std::int64_t top = p.first_row + group * kOutputs - p.tap_count / 2;
    const int last = p.tap_count + height - 2;  // of the rows that are needed: those below may not be held
    A sum[kOutputs] = {};
    if (top >= 0 && top + last < p.image_rows) {
      const A* const from = column + (top - p.from_row) * p.elements;
      slide_down([&](int j) { return from[min(j, last) * p.elements]; }, taps, p.tap_count, sum);
    } else {
      const auto bordered = [&](int j) {
        const std::int64_t inside = border_index(top + min(j, last), p.image_rows, p.border);
        return inside < 0 ? p.constant_row : column[(inside - p.from_row) * p.elements];
      };
      slide_down(bordered, taps, p.tap_count, sum);
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      if (i >= height) break;
      const std::int64_t row = group * kOutputs + i;
      const A x = p.joined ? p.join(p.other.template load<A>(row, element), sum[i]) : sum[i];
      p.store(row, element, x);
    }
  }
}

}  // namespace sepconv::conv_cuda
