// Rows of elements in shared memory, in groups of 16 bytes: windows along them, doubled from one buffer into
// another. Private to this folder.
#pragma once

#include "kernels/sliding_window/window_elements.cuh"

namespace sepconv::engine {

template <class P>
struct __align__(16) Group {
  using W = typename P::Word;
  static constexpr int kWords = 16 / static_cast<int>(sizeof(W));
  static constexpr int kElements = kWords * P::kPack;
  W word[kWords];

  __device__ __forceinline__ friend Group join(const Group& a, const Group& b) {
    Group joined;
#pragma unroll
    for (int i = 0; i < kWords; ++i) joined.word[i] = P::join(a.word[i], b.word[i]);
    return joined;
  }
};

/// kGroups consecutive groups in registers, readable from any element on.
template <class P, int kGroups>
struct GroupRun {
  using G = Group<P>;
  using W = typename P::Word;
  static constexpr int kWords = kGroups * G::kWords;
  W word[kWords];

  __device__ __forceinline__ GroupRun(const G* groups) {
#pragma unroll
    for (int i = 0; i < kGroups; ++i) {
      const G group = groups[i];
#pragma unroll
      for (int j = 0; j < G::kWords; ++j) word[i * G::kWords + j] = group.word[j];
    }
  }
  template <int kWordCount>
  __device__ __forceinline__ void shift_words(bool is_shifted) {
#pragma unroll
    for (int i = 0; i + kWordCount < kWords; ++i) word[i] = is_shifted ? word[i + kWordCount] : word[i];
  }
  __device__ __forceinline__ void shift_half() {
    if constexpr (P::kPack == 2) {
#pragma unroll
      for (int i = 0; i + 1 < kWords; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], 16);
    }
  }
  /// Shifts by `shift` elements, fewer than a group.
  __device__ __forceinline__ void shift_by(int shift) {
    const int words = shift / P::kPack;
    if constexpr (G::kWords == 4) {
      if (words & 2) shift_words<2>(true);
    }
    if (words & 1) shift_words<1>(true);
    if (P::kPack == 2 && (shift & 1)) shift_half();
  }
  /// The group that begins with element kShift.
  template <int kShift>
  __device__ __forceinline__ G at() const {
    G group;
#pragma unroll
    for (int i = 0; i < G::kWords; ++i) {
      constexpr int kFirst = kShift / P::kPack;
      if constexpr (kShift % P::kPack != 0)
        group.word[i] = __funnelshift_r(word[kFirst + i], word[kFirst + i + 1], 16);
      else
        group.word[i] = word[kFirst + i];
    }
    return group;
  }
};

/// The groups of a row shifted by `offset` elements.
template <class P>
struct ShiftedGroups {
  const Group<P>* first;
  int shift;

  __device__ __forceinline__ ShiftedGroups(const Group<P>* row, int offset)
      : first(row + static_cast<unsigned>(offset) / Group<P>::kElements),
        shift(static_cast<int>(static_cast<unsigned>(offset) % Group<P>::kElements)) {}
  __device__ __forceinline__ Group<P> operator[](int g) const {
    if (shift == 0) return first[g];
    GroupRun<P, 2> run(first + g);
    run.shift_by(shift);
    return run.template at<0>();
  }
};

/// Windows of 2 (or, if `four`, 4) neighbours that begin `shift` elements after the beginning of group g.
template <class P>
__device__ __forceinline__ Group<P> first_windows(const Group<P>* row, int g, int shift, bool four) {
  constexpr int kElements = Group<P>::kElements;
  GroupRun<P, 3> run(row + g + shift / kElements);
  run.shift_by(shift % kElements);
  const Group<P> two = join(run.template at<0>(), run.template at<1>());
  return four ? join(two, join(run.template at<2>(), run.template at<3>())) : two;
}

/// The threads that process a row: a warp or a block.
struct WarpThreads {
  static constexpr int kSize = 32;
  int thread;
  __device__ __forceinline__ int size() const { return 32; }
  __device__ __forceinline__ void synchronize() const { __syncwarp(); }
};
struct BlockThreads {
  int thread;
  __device__ __forceinline__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ __forceinline__ void synchronize() const { __syncthreads(); }
};

/// Capacity of a row buffer in groups: `elements`, up to 3 before them for alignment, and groups beyond the
/// end.
template <class P>
__host__ __device__ constexpr int row_groups(int elements) {
  return (elements + 3 + Group<P>::kElements - 1) / Group<P>::kElements + 3;
}

/// Whether windows of 2^k are doubled twice in one step.
template <class P>
__device__ __forceinline__ bool doubles_twice(const Steps& steps, int k) {
  return k + 1 < steps.levels && !(P::kSums && steps.has(k + 1));
}
/// How often windows_of_row() swaps its buffers.
template <class P>
__device__ __forceinline__ int swaps_of_row(const Steps& steps) {
  int swaps = 0;
  for (int k = 0; k < steps.levels; ++swaps) k += doubles_twice<P>(steps, k) ? 2 : 1;
  return swaps;
}

/// Joins two (or four) windows `distance` elements from each other, for groups below `end`.
template <class P, class ThreadGroup>
__device__ __forceinline__ void double_groups(const ThreadGroup& thread_group, const Group<P>* row,
                                              Group<P>* to, int shift, int distance, bool four, int end) {
  const ShiftedGroups<P> a(row, shift), b(row, shift + distance), c(row, shift + 2 * distance),
      d(row, shift + 3 * distance);
  if ((a.shift | b.shift | c.shift | d.shift) == 0) {
#pragma unroll 2
    for (int g = thread_group.thread; g < end; g += thread_group.size()) {
      const Group<P> two = join(a.first[g], b.first[g]);
      to[g] = four ? join(two, join(c.first[g], d.first[g])) : two;
    }
  } else {
    for (int g = thread_group.thread; g < end; g += thread_group.size()) {
      const Group<P> two = join(a[g], b[g]);
      to[g] = four ? join(two, join(c[g], d[g])) : two;
    }
  }
}

/// Computes the windows of `outputs` elements of the row that begins at element `shift` of `row`; neighbours
/// are `stride` apart. Calls emit(group, windows, free) for each group, at most kMaxPerThread times per
/// thread; `free` is the buffer that is no longer read. Both buffers have row_groups(wanted + (steps.count -
/// 1) * stride) groups. Synchronises before a written buffer is read, but not at the end.
template <class P, int kMaxPerThread, class ThreadGroup, class Emit>
__device__ __forceinline__ void windows_of_row(const ThreadGroup& thread_group, Group<P>* row,
                                               Group<P>* spare, int shift, int outputs, int stride,
                                               const Steps& steps, const Emit& emit) {
  using G = Group<P>;
  const int groups = (outputs + G::kElements - 1) / G::kElements;
  G part[kMaxPerThread];
  const auto for_each_group = [&](const auto& action) {
#pragma unroll
    for (int i = 0; i < kMaxPerThread; ++i) {
      const int g = thread_group.thread + i * thread_group.size();
      if (g < groups) action(i, g);
    }
  };
  int k = 0;
  while (k < steps.levels) {
    const int size = 1 << k, distance = size * stride;
    if (P::kSums && steps.has(k)) {
      const int piece = shift + (steps.count - steps.after(k) - size) * stride;
      const ShiftedGroups<P> pieces(row, piece);
      for_each_group([&](int i, int g) {
        const G next = pieces[g];
        part[i] = k == 0 ? next : join(next, part[i]);
      });
    }
    const bool four = doubles_twice<P>(steps, k);
    const int remaining = outputs + (steps.count - (four ? 4 : 2) * size) * stride;
    const bool loads_first_windows = k == 0 && stride == 1;
    const int end = (remaining + G::kElements - 1) / G::kElements;
    if (loads_first_windows) {
      for (int g = thread_group.thread; g < end; g += thread_group.size())
        spare[g] = first_windows<P>(row, g, shift, four);
    } else {
      double_groups<P>(thread_group, row, spare, shift, distance, four, end);
    }
    thread_group.synchronize();
    G* const swapped = row;
    row = spare, spare = swapped;
    shift = 0;
    k += four ? 2 : 1;
  }
  const ShiftedGroups<P> windows(row, shift), rest(row, steps.rest() * stride);
  for_each_group([&](int i, int g) {
    G e = windows[g];
    if (steps.levels > 0) e = join(e, P::kSums ? part[i] : rest[g]);
    emit(g, e, spare);
  });
}

}  // namespace sepconv::engine
