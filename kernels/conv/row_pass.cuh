// The row pass on the device. A thread computes several neighbouring pixels and slides a window of inputs over the taps, so that a value
// once in a register serves all of them. Private to conv_cuda.cu.
#pragma once

#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/conv/cuda_taps.cuh"
#include "sepconv/kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

template <class A>
struct RowPass {
  device::Rows from;             ///< its first element is that of column in_col
  std::int64_t in_col, in_cols;  ///< columns that `from` holds
  device::Store<A> store;
  std::int64_t rows, elements;
  std::int64_t first_col;  ///< column of element 0 of the result
  std::int64_t image_cols;
  int channels, tap_count, segment_taps;
  BorderMode border;
  A border_value;
};

/// Position in `from` of an element given relative to first_col; -1 where the constant border stands.
template <class A>
__device__ std::int64_t position_in_row(const RowPass<A>& p, std::int64_t element) {
  const std::int64_t index = element - (p.in_col - p.first_col) * p.channels;
  if (index >= 0 && index < p.in_cols * p.channels) return index;
  // Not held means outside the image: the input holds the halo wherever there is one.
  const std::int64_t from_zero = element + p.first_col * p.channels;
  std::int64_t col = from_zero / p.channels;
  std::int64_t channel = from_zero % p.channels;
  if (channel < 0) channel += p.channels, --col;
  const std::int64_t inside = border_index(col, p.image_cols, p.border);
  return inside < 0 ? -1 : (inside - p.in_col) * p.channels + channel;
}

/// Place of staged element i: one word of padding in every kRowOutputs lets neighbouring threads, which read kRowOutputs pixels apart,
/// use different banks.
__device__ __forceinline__ int staged(int i) { return i + i / Tuning::kRowOutputs; }

/// Stages `count` elements of a row from `first` on; zeros from `end` on, which no output needs.
template <class A>
__device__ __forceinline__ void stage_row(const RowPass<A>& p, std::int64_t row, std::int64_t first, int count, std::int64_t end,
                                          A* stage) {
  device::visit(p.from.type, [&]<class T>(T) {
    const T* const from = p.from.template row<const T>(row);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
      const std::int64_t element = first + i;
      A value = 0;
      if (element < end) {
        const std::int64_t position = position_in_row(p, element);
        value = position < 0 ? p.border_value : static_cast<A>(from[position]);
      }
      stage[staged(i)] = value;
    }
  });
}

/// Adds `taps` taps from k0 on to a thread's sums. The input of output i under tap k is stage[base + (i + k) * step].
template <class A, class Taps, int kOutputs>
__device__ __forceinline__ void slide(const A* stage, int base, int step, const Taps& taps, int k0, int tap_count, A (&sum)[kOutputs]) {
  A window[kOutputs];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) window[i] = stage[staged(base + i * step)];
  int k = 0;
  for (; k + kOutputs < tap_count; k += kOutputs) {
#pragma unroll
    for (int u = 0; u < kOutputs; ++u) {
      const A tap = taps[k0 + k + u];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) sum[i] = device::fused_multiply_add(tap, window[(i + u) % kOutputs], sum[i]);
      window[u] = stage[staged(base + (k + u + kOutputs) * step)];
    }
  }
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    if (k + u >= tap_count) break;
    const A tap = taps[k0 + k + u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) sum[i] = device::fused_multiply_add(tap, window[(i + u) % kOutputs], sum[i]);
    if (k + u + 1 < tap_count) window[u] = stage[staged(base + (k + u + kOutputs) * step)];
  }
}

/// Block (x, y): as many elements as its threads have outputs, from x times that number on, of the rows y, y + gridDim.y, ...
/// A thread's outputs are one channel of kRowOutputs neighbouring pixels.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kThreads)
    row_pass(const __grid_constant__ RowPass<A> p, const __grid_constant__ Taps taps) {
  extern __shared__ __align__(16) unsigned char shared[];
  A* const stage = reinterpret_cast<A*>(shared);
  constexpr int kOutputs = Tuning::kRowOutputs;
  const int c = p.channels;
  const int groups = static_cast<int>(blockDim.x) / c;  // of kOutputs pixels
  const int group = static_cast<int>(threadIdx.x) / c;
  const int block_elements = groups * kOutputs * c;
  const int base = group * kOutputs * c + static_cast<int>(threadIdx.x) % c;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_elements;
  const std::int64_t radius_elements = static_cast<std::int64_t>(p.tap_count / 2) * c;

  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    A sum[kOutputs] = {};
    for (int k0 = 0; k0 < p.tap_count; k0 += p.segment_taps) {
      const int taps_here = min(p.segment_taps, p.tap_count - k0);
      // Load: a segment's inputs, border included.
      __syncthreads();
      stage_row(p, row, first - radius_elements + static_cast<std::int64_t>(k0) * c, block_elements + (taps_here - 1) * c,
                p.elements + radius_elements, stage);
      __syncthreads();
      // Accumulate.
      if (group < groups) {
        if (c == 1) {
          slide(stage, base, 1, taps, k0, taps_here, sum);
        } else {
          slide(stage, base, c, taps, k0, taps_here, sum);
        }
      }
    }
    // Store: through shared memory, so that neighbouring threads store neighbouring elements.
    __syncthreads();
    if (group < groups) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) stage[staged(base + i * c)] = sum[i];
    }
    __syncthreads();
    const std::int64_t here = min(static_cast<std::int64_t>(block_elements), p.elements - first);
    for (int i = static_cast<int>(threadIdx.x); i < here; i += static_cast<int>(blockDim.x)) {
      p.store(row, first + i, stage[staged(i)]);
    }
  }
}

/// For images of more channels than a block has threads: a thread an element, nothing shared.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kThreads)
    row_pass_many_channels(const __grid_constant__ RowPass<A> p, const __grid_constant__ Taps taps) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads + threadIdx.x;
  if (element >= p.elements) return;
  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    A sum = 0;
    for (int k = 0; k < p.tap_count; ++k) {
      const std::int64_t position = position_in_row(p, element + static_cast<std::int64_t>(k - p.tap_count / 2) * p.channels);
      sum = device::fused_multiply_add(taps[k], position < 0 ? p.border_value : p.from.template load<A>(row, position), sum);
    }
    p.store(row, element, sum);
  }
}

}  // namespace sepconv::conv_cuda
