// A thread's part of a pass: kOutputs adjacent results, over which a window of inputs slides in registers, so
// that an input is loaded once for many multiply-adds. Private to fused_pass.cuh.
#pragma once

#include "kernels/cuda/device_pixel.cuh"

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

/// Input n of a round of kOutputs taps; the round's inputs begin kShift elements into `before`.
template <int kShift, class A, int kVector, int kOutputs>
__device__ __forceinline__ A input_along(int n, const A (&before)[kVector], const A (&window)[kOutputs],
                                         const A (&next)[kOutputs]) {
  const int at = n + kShift - kVector;
  return at < 0 ? before[at + kVector] : at < kOutputs ? window[at] : next[at - kOutputs];
}

/// Adds taps first to last - 1 of one round.
template <int kShift, int kFirst, int kLast, class A, int kVector, int kOutputs>
__device__ __forceinline__ void add_along(const A (&before)[kVector], const A (&window)[kOutputs],
                                          const A (&next)[kOutputs], const A* taps, A (&sum)[kOutputs]) {
#pragma unroll
  for (int u = kFirst; u < kLast; ++u) {
    const A tap = taps[u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      sum[i] = device::fused_multiply_add(tap, input_along<kShift>(i + u, before, window, next), sum[i]);
  }
}

/// Adds `count` taps, an odd number, to the sums of kOutputs adjacent pixels of a row: sum[i] adds
/// taps[k] * pixels[kShift + i + k]. `pixels` is aligned to 16 bytes; kShift is less than a vector.
template <int kShift, class A, int kOutputs>
__device__ __forceinline__ void slide_along(const A* pixels, const A* taps, int count, A (&sum)[kOutputs]) {
  constexpr int kVector = Vector<A>::kCount;
  A before[kVector], window[kOutputs], next[kOutputs];
  const auto advance = [&](const A(&from)[kOutputs]) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) before[i] = from[kOutputs - kVector + i];
    pixels += kOutputs;
    taps += kOutputs;
    count -= kOutputs;
  };
  load_vectors(pixels, before);
  load_vectors(pixels + kVector, window);
  pixels += kVector + kOutputs;
  // Two rounds an iteration, so that the two buffers swap roles instead of being copied.
  while (count > 2 * kOutputs) {
    load_vectors(pixels, next);
    add_along<kShift, 0, kOutputs>(before, window, next, taps, sum);
    advance(window);
    load_vectors(pixels, window);
    add_along<kShift, 0, kOutputs>(before, next, window, taps, sum);
    advance(next);
  }
  if (count > kOutputs) {
    load_vectors(pixels, next);
    add_along<kShift, 0, kOutputs>(before, window, next, taps, sum);
    advance(window);
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) window[i] = next[i];
  }
  // Load only inputs that exist: up to kShift + kOutputs + count - 2.
#pragma unroll
  for (int i = 0; i < kOutputs; i += kVector) {
    if (kVector + i + 1 < kShift + count) load_vectors(pixels + i, reinterpret_cast<A(&)[kVector]>(next[i]));
  }
  add_along<kShift, 0, 1>(before, window, next, taps, sum);
  [&]<int... kPair>(std::integer_sequence<int, kPair...>) {
    // Stops after the last pair.
    (void)((count > 1 + 2 * kPair &&
            (add_along<kShift, 1 + 2 * kPair, 3 + 2 * kPair>(before, window, next, taps, sum), true)) &&
           ...);
  }
  (std::make_integer_sequence<int, kOutputs / 2 - 1>{});
}

/// slide_along for a compile-time number of taps, without branches; taps are kStride elements apart.
template <int kShift, int kTaps, int kStride, class A, int kOutputs>
__device__ __forceinline__ void slide_along(const A* pixels, const A* taps, A (&sum)[kOutputs]) {
  constexpr int kLast = kShift + kOutputs - 1 + (kTaps - 1) * kStride;
  A input[(kLast / Vector<A>::kCount + 1) * Vector<A>::kCount];
  load_vectors(pixels, input);
#pragma unroll
  for (int u = 0; u < kTaps; ++u) {
    const A tap = taps[u];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      sum[i] = device::fused_multiply_add(tap, input[kShift + i + u * kStride], u == 0 ? A(0) : sum[i]);
  }
}

/// kRows rows of 16 bytes from each of kRows lines of shared memory.
template <int kRows, int kPitch, class A>
__device__ __forceinline__ void load_rows(const A* from, A (&to)[kRows][Vector<A>::kCount]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) load_vectors(from + r * kPitch, to[r]);
}

template <int kFirst, int kLast, class A, int kRows, int kCols>
__device__ __forceinline__ void add_down(const A (&window)[kRows][kCols], const A (&next)[kRows][kCols],
                                         const A* taps, A (&sum)[kRows * kCols]) {
#pragma unroll
  for (int u = kFirst; u < kLast; ++u) {
    const A tap = taps[u];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
        A& value = sum[r * kCols + i];
        value =
            device::fused_multiply_add(tap, r + u < kRows ? window[r + u][i] : next[r + u - kRows][i], value);
      }
    }
  }
}

/// A ring of lines in shared memory, kPitch elements apart. The first kMirrored lines are repeated after the
/// last, so that a few consecutive lines can be read without wrapping.
template <int kPitch, class A>
struct LineRing {
  static constexpr int kMirrored = 7;
  A* first;
  int count;

  __device__ __forceinline__ int wrapped(int line) const { return line < count ? line : line - count; }
  __device__ __forceinline__ A* at(int line) const { return first + wrapped(line) * kPitch; }
};

/// The same down the columns: sum[r * kCols + i] adds taps[k] times element i of line r + k. `at` points to
/// line 0 in the ring.
template <int kRows, int kCols, int kPitch, class A>
__device__ __forceinline__ void slide_down(const LineRing<kPitch, A>& ring, const A* at, const A* taps,
                                           int count, A (&sum)[kRows * kCols]) {
  static_assert(2 * kRows <= LineRing<kPitch, A>::kMirrored + 1);
  A window[kRows][kCols];
  A next[kRows][kCols];
  const A* const end = ring.first + ring.count * kPitch;
  const auto advance = [&](int rows) {
    at += rows * kPitch;
    if (at >= end) at -= ring.count * kPitch;
  };
  load_rows<kRows, kPitch>(at, window);
  advance(kRows);
#pragma unroll 1
  for (; count > 2 * kRows; count -= 2 * kRows) {
    load_rows<kRows, kPitch>(at, next);
    add_down<0, kRows>(window, next, taps, sum);
    load_rows<kRows, kPitch>(at + kRows * kPitch, window);
    add_down<0, kRows>(next, window, taps + kRows, sum);
    advance(2 * kRows);
    taps += 2 * kRows;
  }
  if (count > kRows) {
    load_rows<kRows, kPitch>(at, next);
    add_down<0, kRows>(window, next, taps, sum);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) window[r][i] = next[r][i];
    }
    at += kRows * kPitch;
    taps += kRows;
    count -= kRows;
  }
  add_down<0, 1>(window, next, taps, sum);
  if (count > 1) {
    load_rows<kRows, kPitch>(at, next);
    add_down<1, kRows - 1>(window, next, taps, sum);
  }
}

/// slide_down for a compile-time number of taps.
template <int kTaps, int kRows, int kCols, int kPitch, class A>
__device__ __forceinline__ void slide_down(const LineRing<kPitch, A>& ring, const A* at, const A* taps,
                                           A (&sum)[kRows * kCols]) {
  constexpr int kContiguousLines = LineRing<kPitch, A>::kMirrored + 1;
  const A* const end = ring.first + ring.count * kPitch;
#pragma unroll
  for (int line = 0; line < kTaps + kRows - 1; ++line) {
    A input[kCols];
    load_vectors(at + line % kContiguousLines * kPitch, input);
    if (line % kContiguousLines == kContiguousLines - 1) {
      at += kContiguousLines * kPitch;
      if (at >= end) at -= ring.count * kPitch;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int u = line - r;
      if (u < 0 || u >= kTaps) continue;
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
        A& value = sum[r * kCols + i];
        value = device::fused_multiply_add(taps[u], input[i], u == 0 ? A(0) : value);
      }
    }
  }
}

}  // namespace sepconv::conv_cuda
