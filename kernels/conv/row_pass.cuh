// The row pass on the device. A thread computes several adjacent pixels and slides a window of inputs over
// the taps, so that all of them use a value loaded into a register once. Private to two_passes.cu.
#pragma once

#include "kernels/conv/border.hpp"
#include "kernels/conv/cuda_taps.cuh"
#include "kernels/pointwise/device_op.cuh"

namespace sepconv::conv_cuda {

template <class A>
struct RowPass {
  device::Rows from;             ///< begins at column in_col
  std::int64_t in_col, in_cols;  ///< columns that `from` contains
  device::Store<A> store;
  std::int64_t strip_elements;  ///< distance in the result between adjacent strips of a row;
                                ///< kStrip: an ordinary image
  std::int64_t rows, elements;
  std::int64_t first_col;  ///< column of element 0 of the result
  std::int64_t image_cols;
  int channels, tap_count, segment_taps;  ///< tap_count 0: the pass only copies
  int plane;                              ///< stride of staged channels
  BorderMode border;
  A border_value;
};

/// Position in `from` of an element given relative to first_col; -1 for the constant border.
template <class A>
__device__ std::int64_t position_in_row(const RowPass<A>& p, std::int64_t element) {
  const std::int64_t index = element - (p.in_col - p.first_col) * p.channels;
  if (index >= 0 && index < p.in_cols * p.channels) return index;
  // The element is outside the image, because the input includes the halo wherever the image has it.
  const std::int64_t from_zero = element + p.first_col * p.channels;
  std::int64_t col = from_zero / p.channels;
  std::int64_t channel = from_zero % p.channels;
  if (channel < 0) channel += p.channels, --col;
  const std::int64_t inside = border_index(col, p.image_cols, p.border);
  return inside < 0 ? -1 : (inside - p.in_col) * p.channels + channel;
}

/// Position of pixel i of a staged channel. One value of padding after every kOutputs lets adjacent threads,
/// whose pixels are kOutputs apart, use different banks.
__host__ __device__ constexpr int staged(int i) { return i + i / Tuning::kOutputs; }

/// Iterates over every blockDim.x-th interleaved element and tracks its pixel and channel without division.
struct ElementWalk {
  int pixel, channel, channels, pixel_step, channel_step;

  __device__ explicit ElementWalk(int c)
      : pixel(static_cast<int>(threadIdx.x) / c),
        channel(static_cast<int>(threadIdx.x) % c),
        channels(c),
        pixel_step(static_cast<int>(blockDim.x) / c),
        channel_step(static_cast<int>(blockDim.x) % c) {}
  __device__ __forceinline__ void next() {
    pixel += pixel_step;
    channel += channel_step;
    if (channel >= channels) channel -= channels, ++pixel;
  }
  __device__ __forceinline__ int staged_position(int plane) const { return channel * plane + staged(pixel); }
};

/// stage_row for rows partly outside the image. Slower, with little code: the border code is inlined once.
template <class A>
__device__ __forceinline__ void stage_border(const RowPass<A>& p, std::int64_t row, std::int64_t first,
                                             int count, std::int64_t end, A* stage) {
  ElementWalk walk(p.channels);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    A value = 0;
    if (first + i < end) {
      const std::int64_t position = position_in_row(p, first + i);
      value = position < 0 ? p.border_value : p.from.template load<A>(row, position);
    }
    stage[walk.staged_position(p.plane)] = value;
    walk.next();
  }
}

/// Stages `count` elements of a row from `first` on, split by channel, with zeros from `end` on.
template <class A>
__device__ __forceinline__ void stage_row(const RowPass<A>& p, std::int64_t row, std::int64_t first,
                                          int count, std::int64_t end, A* stage) {
  const std::int64_t index = first - (p.in_col - p.first_col) * p.channels;
  if (index < 0 || index + count > p.in_cols * p.channels)
    return stage_border(p, row, first, count, end, stage);
  device::visit(p.from.type, [&]<class T>(T) {
    const T* const __restrict__ at = p.from.template row<const T>(row) + index;
    ElementWalk walk(p.channels);
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
      stage[p.channels == 1 ? staged(i) : walk.staged_position(p.plane)] = static_cast<A>(at[i]);
      walk.next();
    }
  });
}

/// Adds `tap_count` taps to a thread's sums. The input of output i under tap k is staged pixel i + k.
template <class A, int kOutputs>
__device__ __forceinline__ void slide(const A* pixels, const A* taps, int tap_count, A (&sum)[kOutputs]) {
  A window[kOutputs];
  A tap[kOutputs];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) window[i] = pixels[i];
  const A* next = pixels + kOutputs + 1;
  int remaining_taps = tap_count;
  for (; remaining_taps > kOutputs; remaining_taps -= kOutputs) {
    load_taps(taps, tap);
#pragma unroll
    for (int u = 0; u < kOutputs; ++u) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i)
        sum[i] = device::fused_multiply_add(tap[u], window[(i + u) % kOutputs], sum[i]);
      window[u] = next[u];
    }
    taps += kOutputs;
    next += kOutputs + 1;
  }
  load_taps(taps, tap);
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    if (u >= remaining_taps) break;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      sum[i] = device::fused_multiply_add(tap[u], window[(i + u) % kOutputs], sum[i]);
    if (u + 1 < remaining_taps) window[u] = next[u];
  }
}

/// Block (x, y) computes the x-th run of as many elements as its threads have outputs, in rows y,
/// y + gridDim.y, ... A thread's outputs are one channel of kOutputs adjacent pixels.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kRowThreads, sizeof(A) == 4 ? Tuning::kRowBlocksPerProcessor
                                                                      : Tuning::kRowBlocksPerProcessor / 2)
    row_pass(const __grid_constant__ RowPass<A> p, const __grid_constant__ Taps taps) {
  extern __shared__ __align__(16) unsigned char shared[];
  A* const stage = reinterpret_cast<A*>(shared);
  constexpr int kOutputs = Tuning::kOutputs;
  const int c = p.channels;
  const int groups = static_cast<int>(blockDim.x) / c;  // of kOutputs pixels
  const int channel = static_cast<int>(threadIdx.x) / groups;
  const int group = static_cast<int>(threadIdx.x) % groups;
  const int block_elements = groups * kOutputs * c;
  A* const thread_pixels = stage + channel * p.plane + staged(group * kOutputs);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_elements;
  const std::int64_t radius_elements = static_cast<std::int64_t>(p.tap_count / 2) * c;

  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    A sum[kOutputs] = {};
    if (p.tap_count == 0) {
      __syncthreads();
      stage_row(p, row, first, block_elements, p.elements, stage);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) sum[i] = channel < c ? thread_pixels[i] : A(0);
    }
    for (int k0 = 0; k0 < p.tap_count; k0 += p.segment_taps) {
      const int tap_count = min(p.segment_taps, p.tap_count - k0);
      // Load: a segment's inputs, border included.
      __syncthreads();
      stage_row(p, row, first - radius_elements + static_cast<std::int64_t>(k0) * c,
                block_elements + (tap_count - 1) * c, p.elements + radius_elements, stage);
      __syncthreads();
      // Accumulate.
      if (channel < c) slide(thread_pixels, taps.at(k0), tap_count, sum);
    }
    // Store: through shared memory, so that adjacent threads store adjacent elements.
    p.store.finish(sum);
    __syncthreads();
    if (channel < c) {
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) thread_pixels[i] = sum[i];
    }
    __syncthreads();
    const int count = static_cast<int>(min(static_cast<std::int64_t>(block_elements), p.elements - first));
    device::visit(p.store.to.type, [&]<class T>(T) {
      // `first` is split into strips once, so that each element needs few operations.
      constexpr int kStrip = Tuning::kStrip;
      T* const to = p.store.to.template row<T>(row) + first / kStrip * p.strip_elements;
      const int strip_offset = static_cast<int>(first % kStrip);
      ElementWalk walk(c);
#pragma unroll 4
      for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
        const int staged_position = c == 1 ? staged(i) : walk.staged_position(p.plane);
        const int at = strip_offset + i;
        to[at / kStrip * p.strip_elements + at % kStrip] = device::to_pixel<T>(stage[staged_position]);
        walk.next();
      }
    });
  }
}

/// For images with more channels than a block has threads: one thread per element, no shared memory.
template <class A, class Taps>
__global__ void __launch_bounds__(Tuning::kRowThreads)
    row_pass_many_channels(const __grid_constant__ RowPass<A> p, const __grid_constant__ Taps taps) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kRowThreads + threadIdx.x;
  if (element >= p.elements) return;
  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    A sum = 0;
    for (int k = 0; k < p.tap_count; ++k) {
      const std::int64_t position =
          position_in_row(p, element + static_cast<std::int64_t>(k - p.tap_count / 2) * p.channels);
      sum = device::fused_multiply_add(
          *taps.at(k), position < 0 ? p.border_value : p.from.template load<A>(row, position), sum);
    }
    if (p.tap_count == 0) sum = p.from.template load<A>(row, position_in_row(p, element));
    p.store(row, element / Tuning::kStrip * p.strip_elements + element % Tuning::kStrip, sum);
  }
}

}  // namespace sepconv::conv_cuda
