// Rows in registers: 4 words in each lane of a warp, with neighbours read from other lanes. Private to this
// folder.
#pragma once

#include "kernels/sliding_window/window_elements.cuh"

namespace sepconv::engine {

constexpr int kLaneWords = 4;
constexpr int kLaneRows = 4;  ///< rows of a warp
template <class P>
constexpr int kLaneElements = kLaneWords* P::kPack;
template <class P>
constexpr int kWarpElements = 32 * kLaneElements<P>;

/// kLaneRows rows of a warp's elements; each lane has 4 words of each.
template <class P>
struct LaneRows {
  using W = typename P::Word;
  W word[kLaneRows][kLaneWords];

  template <class Generate>
  static __device__ __forceinline__ LaneRows generated(const Generate& generate) {
    LaneRows rows;
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r)
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i) rows.word[r][i] = generate(r, i);
    return rows;
  }
  __device__ __forceinline__ friend LaneRows join(const LaneRows& a, const LaneRows& b) {
    return generated([&](int r, int i) { return P::join(a.word[r][i], b.word[r][i]); });
  }

  /// Shifts the rows by `lanes` lanes, kWords words and, if kHalf, half a word, so that each word becomes one
  /// after it. kSameLane: `lanes` is 0, so a lane's own words need no shuffle.
  template <int kWords, bool kHalf, bool kSameLane>
  __device__ __forceinline__ LaneRows shifted_lanes(int lanes) const {
    const int lane = static_cast<int>(threadIdx.x) + lanes;
    LaneRows rows;
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
      W next_words[kLaneWords + 1];
#pragma unroll
      for (int i = 0; i < kLaneWords + (kHalf ? 1 : 0); ++i) {
        constexpr unsigned kAll = 0xffffffffu;
        if (i + kWords >= kLaneWords)
          next_words[i] = __shfl_sync(kAll, word[r][(i + kWords) % kLaneWords], lane + 1);
        else
          next_words[i] = kSameLane ? word[r][i + kWords] : __shfl_sync(kAll, word[r][i + kWords], lane);
      }
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i) {
        if constexpr (kHalf)
          rows.word[r][i] = __funnelshift_r(next_words[i], next_words[i + 1], 16);
        else
          rows.word[r][i] = next_words[i];
      }
    }
    return rows;
  }
  template <int kWords, bool kSameLane>
  __device__ __forceinline__ LaneRows shifted_words(bool half, int lanes) const {
    if constexpr (P::kPack == 2) {
      if (half) return shifted_lanes<kWords, true, kSameLane>(lanes);
    }
    return shifted_lanes<kWords, false, kSameLane>(lanes);
  }
  /// The elements `offset` after each (before it if negative); undefined beyond the warp's ends.
  __device__ __forceinline__ LaneRows shifted(int offset) const {
    constexpr int kElements = kLaneElements<P>;
    const int lanes = (offset + 64 * kElements) / kElements - 64, within = offset - lanes * kElements;
    const bool half = P::kPack == 2 && (within & 1) != 0;
    switch (within / P::kPack) {
      case 0:
        return lanes == 0 ? shifted_words<0, true>(half, 0) : shifted_words<0, false>(half, lanes);
      case 1:
        return lanes == 0 ? shifted_words<1, true>(half, 0) : shifted_words<1, false>(half, lanes);
      case 2:
        return lanes == 0 ? shifted_words<2, true>(half, 0) : shifted_words<2, false>(half, lanes);
      default:
        return shifted_words<3, false>(half, lanes);
    }
  }
};

/// The windows along rows centred on each element; neighbours are `stride` apart.
template <class P>
__device__ __forceinline__ LaneRows<P> windows_across(LaneRows<P> rows, const Steps& steps, int stride) {
  if (steps.levels == 0) return rows;
  LaneRows<P> part;
  for (int k = 0; k < steps.levels; ++k) {
    if (P::kSums && steps.has(k)) {
      const LaneRows<P> piece = rows.shifted((steps.count - steps.after(k) - (1 << k)) * stride);
      part = k == 0 ? piece : join(piece, part);
    }
    rows = join(rows, rows.shifted(stride << k));
  }
  rows = join(rows, P::kSums ? part : rows.shifted(steps.rest() * stride));
  return rows.shifted(-(steps.count / 2) * stride);
}

/// Windows down the columns of a warp's elements, 4 rows at a time. Windows of 4, 8, 16, ... rows are
/// buffered in shared memory; each lane accesses only its own part.
template <class P>
class LaneColumns {
 public:
  using W = typename P::Word;
  using Rows = LaneRows<P>;
  static constexpr int kParts = sizeof(W) * kLaneWords / 16;  ///< 16-byte parts of a lane's words
  static constexpr int kRowBytes = 32 * kParts * 16;

  static __host__ __device__ int rows(const Steps& steps) {
    return steps.levels < 2 ? 0 : (1 << steps.levels) - kLaneRows + oldest_rows(steps);
  }

  __device__ __forceinline__ LaneColumns(const Steps& steps, unsigned char* warp_memory, int lane)
      : steps_(steps), ring_(warp_memory + lane * 16) {}
  __device__ __forceinline__ void begin() {
    at_ = oldest_ = 0;
#pragma unroll
    for (int i = 0; i < 3 * kLaneWords; ++i) before_[i / kLaneWords][i % kLaneWords] = W{};
  }

  /// The windows that end with each of these rows, which follow those of the previous call.
  __device__ __forceinline__ Rows windows(const Rows& x) {
    Rows result = x;
    if (steps_.levels > 0) {
      Rows doubled;
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i) {
        W pairs[kLaneRows + 2];
#pragma unroll
        for (int r = 0; r < kLaneRows + 2; ++r) pairs[r] = P::join(row(x, r, i), row(x, r + 1, i));
#pragma unroll
        for (int r = 0; r < kLaneRows; ++r) {
          if (is_piece(1)) result.word[r][i] = with_piece(pairs[r + 1], pairs[r + 2], result.word[r][i]);
          doubled.word[r][i] = P::join(pairs[r], pairs[r + 2]);
        }
      }
      if (steps_.levels > 1) join_in_rings(doubled, result);
    }
#pragma unroll
    for (int r = 0; r < 3; ++r)
#pragma unroll
      for (int i = 0; i < kLaneWords; ++i) before_[r][i] = x.word[kLaneRows - 3 + r][i];
    return result;
  }

 private:
  static __host__ __device__ int oldest_rows(const Steps& steps) {
    return (steps.rest() + kLaneRows - 1) / kLaneRows * kLaneRows;
  }
  /// Row r of the 3 previous rows and these.
  __device__ __forceinline__ W row(const Rows& x, int r, int i) const {
    return r < 3 ? before_[r < 3 ? r : 0][i] : x.word[r < 3 ? 0 : r - 3][i];
  }
  __device__ __forceinline__ bool is_piece(int k) const {
    return k == steps_.levels || (P::kSums && steps_.has(k));
  }
  static __device__ __forceinline__ W with_piece(W piece, W window, W result) {
    return P::join(piece, P::kSums ? result : window);
  }

  struct __align__(16) Part {
    W word[16 / sizeof(W)];
  };
  __device__ __forceinline__ void load(int slot, W (&words)[kLaneWords]) const {
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      const Part part = *reinterpret_cast<const Part*>(ring_ + slot * kRowBytes + p * 512);
#pragma unroll
      for (int i = 0; i < kLaneWords / kParts; ++i) words[p * (kLaneWords / kParts) + i] = part.word[i];
    }
  }
  __device__ __forceinline__ void store(int slot, const W (&words)[kLaneWords]) const {
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      Part part;
#pragma unroll
      for (int i = 0; i < kLaneWords / kParts; ++i) part.word[i] = words[p * (kLaneWords / kParts) + i];
      *reinterpret_cast<Part*>(ring_ + slot * kRowBytes + p * 512) = part;
    }
  }

  /// Joins windows of 4 rows and more through the rings; new rows replace the oldest.
  __device__ __forceinline__ void join_in_rings(Rows& doubled, Rows& result) {
    for (int k = 2;; ++k) {
      const bool last = k == steps_.levels;
      const int size = last ? oldest_rows(steps_) : 1 << k, begin = (1 << k) - kLaneRows;
      const int at = last ? oldest_ : at_ & (size - 1);
      const int after = steps_.after(k);
      Rows old, piece;
      if (is_piece(k)) {
        int from = at - after;
        from = from < 0 ? from + size : from;
#pragma unroll
        for (int r = 0; r < kLaneRows; ++r)
          if (r < after) load(begin + (from + r < size ? from + r : from + r - size), piece.word[r]);
      }
      if (!last) {
#pragma unroll
        for (int r = 0; r < kLaneRows; ++r) load(begin + at + r, old.word[r]);
      }
#pragma unroll
      for (int r = 0; r < kLaneRows; ++r) store(begin + at + r, doubled.word[r]);
      if (is_piece(k)) {
        result = Rows::generated([&](int r, int i) {
          W before = piece.word[r][i];
          if (r >= 1) before = after == 1 ? doubled.word[r >= 1 ? r - 1 : 0][i] : before;
          if (r >= 3) before = after == 3 ? doubled.word[r >= 3 ? r - 3 : 0][i] : before;
          return with_piece(before, doubled.word[r][i], result.word[r][i]);
        });
      }
      if (last) break;
      doubled = join(old, doubled);
    }
    at_ += kLaneRows;
    oldest_ = oldest_ + kLaneRows < oldest_rows(steps_) ? oldest_ + kLaneRows : 0;
  }

  Steps steps_;
  unsigned char* ring_;
  int at_ = 0, oldest_ = 0;
  W before_[3][kLaneWords];
};

}  // namespace sepconv::engine
