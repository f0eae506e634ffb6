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

/// kGroups groups that lie one after another in registers, to be read from any element on.
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
  template <int kBy>
  __device__ __forceinline__ void move_words(bool moves) {
#pragma unroll
    for (int i = 0; i + kBy < kWords; ++i) word[i] = moves ? word[i + kBy] : word[i];
  }
  __device__ __forceinline__ void move_half() {
    if constexpr (P::kPack == 2) {
#pragma unroll
      for (int i = 0; i + 1 < kWords; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], 16);
    }
  }
  /// Makes element `shift`, of the first group, the first.
  __device__ __forceinline__ void move(int shift) {
    const int words = shift / P::kPack;
    if constexpr (G::kWords == 4) {
      if (words & 2) move_words<2>(true);
    }
    if (words & 1) move_words<1>(true);
    if (P::kPack == 2 && (shift & 1)) move_half();
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

/// Groups that begin `offset` elements behind those of a row.
template <class P>
struct GroupsBehind {
  const Group<P>* first;
  int shift;

  __device__ __forceinline__ GroupsBehind(const Group<P>* row, int offset)
      : first(row + static_cast<unsigned>(offset) / Group<P>::kElements),
        shift(static_cast<int>(static_cast<unsigned>(offset) % Group<P>::kElements)) {}
  __device__ __forceinline__ Group<P> operator[](int g) const {
    if (shift == 0) return first[g];
    GroupRun<P, 2> run(first + g);
    run.move(shift);
    return run.template at<0>();
  }
};

/// Windows of 2 (or, if `four`, 4) neighbours that begin in group g or, with `shift`, behind it.
template <class P>
__device__ __forceinline__ Group<P> first_windows(const Group<P>* row, int g, int shift, bool four) {
  constexpr int kElements = Group<P>::kElements;
  GroupRun<P, 3> run(row + g + shift / kElements);
  run.move(shift % kElements);
  const Group<P> two = join(run.template at<0>(), run.template at<1>());
  return four ? join(two, join(run.template at<2>(), run.template at<3>())) : two;
}

/// Who works on a row: a warp, or a block.
struct WarpTeam {
  static constexpr int kSize = 32;
  int member;
  __device__ __forceinline__ int size() const { return 32; }
  __device__ __forceinline__ void wait() const { __syncwarp(); }
};
struct BlockTeam {
  int member;
  __device__ __forceinline__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ __forceinline__ void wait() const { __syncthreads(); }
};

/// Room for a row, in groups: this many elements after up to 3 that alignment puts before them, and what groups
/// reach beyond its end.
template <class P>
__host__ __device__ constexpr int row_groups(int elements) {
  return (elements + 3 + Group<P>::kElements - 1) / Group<P>::kElements + 3;
}

/// Whether two doublings are one step from windows of 2^k on.
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

/// Groups below `end` of windows that are two, or four, of those `apart` from each other.
template <class P, class Team>
__device__ __forceinline__ void double_groups(const Team& team, const Group<P>* row, Group<P>* to, int shift,
                                              int apart, bool four, int end) {
  const GroupsBehind<P> a(row, shift), b(row, shift + apart), c(row, shift + 2 * apart),
      d(row, shift + 3 * apart);
  if ((a.shift | b.shift | c.shift | d.shift) == 0) {
#pragma unroll 2
    for (int g = team.member; g < end; g += team.size()) {
      const Group<P> two = join(a.first[g], b.first[g]);
      to[g] = four ? join(two, join(c.first[g], d.first[g])) : two;
    }
  } else {
    for (int g = team.member; g < end; g += team.size()) {
      const Group<P> two = join(a[g], b[g]);
      to[g] = four ? join(two, join(c[g], d[g])) : two;
    }
  }
}

/// The windows of `wanted` elements, `stride` from neighbour to neighbour, of the row that begins with
/// element `shift` of `row`. Calls emit(group, windows, free) for each group of them, at most kPer for each
/// of the team. Both buffers are for row_groups(wanted + (steps.count - 1) * stride). The team waits before a
/// buffer that it has written is read, and not at the end; emit() is also given the buffer that nobody reads
/// any more.
template <class P, int kPer, class Team, class Emit>
__device__ __forceinline__ void windows_of_row(const Team& team, Group<P>* row, Group<P>* spare, int shift,
                                               int wanted, int stride, const Steps& steps, const Emit& emit) {
  using G = Group<P>;
  const int groups = (wanted + G::kElements - 1) / G::kElements;
  G part[kPer];
  const auto each = [&](const auto& act) {
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      const int g = team.member + i * team.size();
      if (g < groups) act(i, g);
    }
  };
  int k = 0;
  while (k < steps.levels) {
    const int size = 1 << k, apart = size * stride;
    if (P::kSums && steps.has(k)) {
      const int piece = shift + (steps.count - steps.after(k) - size) * stride;
      const GroupsBehind<P> pieces(row, piece);
      each([&](int i, int g) {
        const G next = pieces[g];
        part[i] = k == 0 ? next : join(next, part[i]);
      });
    }
    const bool four = doubles_twice<P>(steps, k);
    const int made = wanted + (steps.count - (four ? 4 : 2) * size) * stride;
    const bool near = k == 0 && stride == 1;
    const int end = (made + G::kElements - 1) / G::kElements;
    if (near) {
      for (int g = team.member; g < end; g += team.size()) spare[g] = first_windows<P>(row, g, shift, four);
    } else {
      double_groups<P>(team, row, spare, shift, apart, four, end);
    }
    team.wait();
    G* const swapped = row;
    row = spare, spare = swapped;
    shift = 0;
    k += four ? 2 : 1;
  }
  const GroupsBehind<P> own(row, shift), rest(row, steps.rest() * stride);
  each([&](int i, int g) {
    G e = own[g];
    if (steps.levels > 0) e = join(e, P::kSums ? part[i] : rest[g]);
    emit(g, e, spare);
  });
}

}  // namespace sepconv::engine
