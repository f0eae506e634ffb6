// A thread's share of a pass: kOutputs neighbouring results, over which a window of inputs slides in registers, so that an input once
// loaded serves many multiply-adds. Private to fused_pass.cuh.
#pragma once

#include "sepconv/kernels/cuda/device_pixel.cuh"

namespace sepconv::conv_cuda {

/// 16 bytes of shared memory in one access.
template <class A>
struct alignas(16) Vector {
  static constexpr int kCount = 16 / sizeof(A);
  A at[kCount];
};

template <int kCount, class A>
__device__ __forceinline__ void load_vectors(const A* from, A (&to)[kCount]) {
  constexpr int kVector = Vector<A>::kCount;
#pragma unroll
  for (int i = 0; i < kCount; i += kVector) {
    const Vector<A> vector = *reinterpret_cast<const Vector<A>*>(from + i);
#pragma unroll
    for (int j = 0; j < kVector; ++j) to[i + j] = vector.at[j];
  }
}

template <int kCount, class A>
__device__ __forceinline__ void store_vectors(A* to, const A (&from)[kCount]) {
  constexpr int kVector = Vector<A>::kCount;
#pragma unroll
  for (int i = 0; i < kCount; i += kVector) {
    Vector<A> vector;
#pragma unroll
    for (int j = 0; j < kVector; ++j) vector.at[j] = from[i + j];
    *reinterpret_cast<Vector<A>*>(to + i) = vector;
  }
}

/// Adds taps first to last - 1 of one round. Input n of the round is window[n] and goes on in next.
template <int kFirst, int kLast, class A, int kOutputs>
__device__ __forceinline__ void add_along(const A (&window)[kOutputs], const A (&next)[kOutputs], const A* taps, A (&sum)[kOutputs]) {
#pragma unroll
  for (int u = kFirst; u < kLast; ++u) {
    const A tap = taps[u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      sum[i] = device::fused_multiply_add(tap, i + u < kOutputs ? window[i + u] : next[i + u - kOutputs], sum[i]);
    }
  }
}

/// Adds `count` taps, an odd number, to the sums of kOutputs neighbours of a row: sum[i] takes pixels[i + k] under tap k. `pixels` are
/// aligned to 16 bytes.
template <class A, int kOutputs>
__device__ __forceinline__ void slide_along(const A* pixels, const A* taps, int count, A (&sum)[kOutputs]) {
  A window[kOutputs];
  A next[kOutputs];
  load_vectors(pixels, window);
  pixels += kOutputs;
  // Two rounds, so that the window changes its place instead of being moved.
  for (; count > 2 * kOutputs; count -= 2 * kOutputs) {
    load_vectors(pixels, next);
    add_along<0, kOutputs>(window, next, taps, sum);
    load_vectors(pixels + kOutputs, window);
    add_along<0, kOutputs>(next, window, taps + kOutputs, sum);
    pixels += 2 * kOutputs;
    taps += 2 * kOutputs;
  }
  if (count > kOutputs) {
    load_vectors(pixels, next);
    add_along<0, kOutputs>(window, next, taps, sum);
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) window[i] = next[i];
    pixels += kOutputs;
    taps += kOutputs;
    count -= kOutputs;
  }
  // No more than is there.
  constexpr int kVector = Vector<A>::kCount;
#pragma unroll
  for (int i = 0; i < kOutputs; i += kVector) {
    if (i + 1 < count) load_vectors(pixels + i, reinterpret_cast<A(&)[kVector]>(next[i]));
  }
  add_along<0, 1>(window, next, taps, sum);
  [&]<int... kPair>(std::integer_sequence<int, kPair...>) {
    // Stops at the first pair that there is not.
    (void)((count > 1 + 2 * kPair && (add_along<1 + 2 * kPair, 3 + 2 * kPair>(window, next, taps, sum), true)) && ...);
  }(std::make_integer_sequence<int, kOutputs / 2 - 1>{});
}

/// kRows rows of 16 bytes from each of kRows lines of shared memory.
template <int kRows, int kPitch, class A>
__device__ __forceinline__ void load_rows(const A* from, A (&to)[kRows][Vector<A>::kCount]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) load_vectors(from + r * kPitch, to[r]);
}

template <int kFirst, int kLast, class A, int kRows, int kCols>
__device__ __forceinline__ void add_down(const A (&window)[kRows][kCols], const A (&next)[kRows][kCols], const A* taps,
                                         A (&sum)[kRows * kCols]) {
#pragma unroll
  for (int u = kFirst; u < kLast; ++u) {
    const A tap = taps[u];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
        A& value = sum[r * kCols + i];
        value = device::fused_multiply_add(tap, r + u < kRows ? window[r + u][i] : next[r + u - kRows][i], value);
      }
    }
  }
}

/// The same down the columns: sum[r * kCols + i] takes element i of line r + k under tap k, lines being kPitch elements apart.
template <int kPitch, int kRows, int kCols, class A>
__device__ __forceinline__ void slide_down_lines(const A* lines, const A* taps, int count, A (&sum)[kRows * kCols]) {
  A window[kRows][kCols];
  A next[kRows][kCols];
  load_rows<kRows, kPitch>(lines, window);
  lines += kRows * kPitch;
#pragma unroll 2
  for (; count > 2 * kRows; count -= 2 * kRows) {
    load_rows<kRows, kPitch>(lines, next);
    add_down<0, kRows>(window, next, taps, sum);
    load_rows<kRows, kPitch>(lines + kRows * kPitch, window);
    add_down<0, kRows>(next, window, taps + kRows, sum);
    lines += 2 * kRows * kPitch;
    taps += 2 * kRows;
  }
  if (count > kRows) {
    load_rows<kRows, kPitch>(lines, next);
    add_down<0, kRows>(window, next, taps, sum);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) window[r][i] = next[r][i];
    }
    lines += kRows * kPitch;
    taps += kRows;
    count -= kRows;
  }
  add_down<0, 1>(window, next, taps, sum);
  if (count > 1) {
    load_rows<kRows, kPitch>(lines, next);
    add_down<1, kRows - 1>(window, next, taps, sum);
  }
}

}  // namespace sepconv::conv_cuda
