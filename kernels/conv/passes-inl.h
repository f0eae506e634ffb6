// The two passes of a separable convolution over rows in memory. Included once per target.
#if defined(SEPCONV_CONV_PASSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_PASSES_INL_H
#undef SEPCONV_CONV_PASSES_INL_H
#else
#define SEPCONV_CONV_PASSES_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/memory.hpp"
#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Taps of one pass in the arithmetic type.
template <class A>
struct Taps {
  const A* data = nullptr;
  std::int64_t count = 0;
};

/// Register blocks. Accumulators must hide the latency of a fused multiply-add (4 cycles, 2 per cycle) and
/// fit, with one vector of input and one of taps, into the registers: 32 on AVX3 and NEON, 16 on AVX2. A row
/// pass by groups (AVX3) keeps two vectors of input for each accumulator.
struct RegisterBlocks {
#if HWY_TARGET == HWY_AVX2
  static constexpr int kRowPassVectors = 8;
  static constexpr int kColRows = 4;
  static constexpr int kColSums = 8;
#else
  static constexpr int kRowPassVectors = 8;
  static constexpr int kColRows = 8;
  static constexpr int kColSums = 16;
#endif
};

/// Calls block(i) for blocks of `step` elements that cover [first, count). If they do not divide evenly, the
/// last block overlaps the one before and computes the same bits again. count >= step.
template <class Block>
HWY_INLINE void for_each_block(std::int64_t count, std::int64_t step, const Block& block,
                               std::int64_t first = 0) {
  for (std::int64_t i = first; i < count; i += step) block(std::min(i, count - step));
}

#if HWY_TARGET != HWY_SCALAR

/// The vector that begins at from + kShift. `low` begins at `from`, `high` 16 bytes later.
template <int kShift, class D, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> neighbours(D d, const A* from, hn::Vec<D> low, hn::Vec<D> high) {
  if constexpr (kShift == 0) return low;
  if constexpr (kShift % 2 == 0) return hn::LoadU(d, from + kShift);
  if constexpr (kShift % 2 == 1) return hn::CombineShiftRightBytes<kShift * sizeof(A)>(d, high, low);
}

template <int kTap, int kVectors, class D, class A = hn::TFromD<D>>
HWY_INLINE void add_tap(D d, const A* taps, const A* from, const hn::Vec<D> (&low)[kVectors],
                        const hn::Vec<D> (&high)[kVectors], hn::Vec<D> (&sum)[kVectors]) {
  const auto tap = hn::Set(d, taps[kTap]);
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) {
    sum[v] = fused_multiply_add(tap, neighbours<kTap>(d, from + v * hn::Lanes(d), low[v], high[v]), sum[v]);
  }
}

/// Adds groups of as many taps as 16 bytes have elements, and one tap more. Returns the number of taps added.
///
/// An unaligned 64-byte vector crosses a cache line at 15 of 16 element offsets, and such a load costs two.
/// Here every second vector is not loaded but shifted together from two that are 16 bytes apart. Loads and
/// shifts use different units and then keep pace with the multiply-adds.
template <int kVectors, class D, class A, int... kTap>
HWY_INLINE std::int64_t add_groups(D d, Taps<A> taps, const A* from, hn::Vec<D> (&sum)[kVectors],
                                   std::integer_sequence<int, kTap...>) {
  constexpr std::int64_t kGroup = sizeof...(kTap);
  hn::Vec<D> low[kVectors], high[kVectors];
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) low[v] = hn::LoadU(d, from + v * hn::Lanes(d));
  std::int64_t k = 0;
  for (; k + kGroup < taps.count; k += kGroup, from += kGroup) {
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) high[v] =
        hn::LoadU(d, from + kGroup + v * hn::Lanes(d));
    (add_tap<kTap>(d, taps.data + k, from, low, high, sum), ...);
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) low[v] = high[v];
  }
  add_tap<0>(d, taps.data + k, from, low, high, sum);  // the next tap's elements are already in registers
  return k + 1;
}

#endif  // HWY_TARGET

/// kHasGroups: stride is 1, and there are enough taps for a group.
template <int kVectors, bool kHasGroups, class D, class A = hn::TFromD<D>>
HWY_INLINE void row_pass_block(D d, Taps<A> taps, std::int64_t stride, const A* from, A* to) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kVectors];
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  std::int64_t k = 0;
  if constexpr (kHasGroups)
    k = add_groups(d, taps, from, sum, std::make_integer_sequence<int, 16 / sizeof(A)>());
  for (from += k * stride; k < taps.count; ++k, from += stride) {
    const auto tap = hn::Set(d, taps.data[k]);
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) {
      sum[v] = fused_multiply_add(tap, hn::LoadU(d, from + v * lanes), sum[v]);
    }
  }
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, to + v * lanes);
}

/// Rows to prefetch piece by piece while another row is filtered.
struct RowPrefetch {
  const std::byte* to_l2 = nullptr;  ///< fetched from memory into the L2 cache; null: no prefetch
  const std::byte* to_l1 =
      nullptr;  ///< fetched from L2 into L1, which is too small for all rows up to `to_l2`
  std::int64_t element_bytes = 0;

  HWY_INLINE void fetch(std::int64_t first, std::int64_t count) const {
    if (to_l2 == nullptr) return;
    for (std::int64_t at = first * element_bytes; at < (first + count) * element_bytes; at += kAlignment) {
      __builtin_prefetch(to_l2 + at, 0, 2);
      __builtin_prefetch(to_l1 + at, 0, 3);
    }
  }
};

template <bool kHasGroups, class A>
void row_pass_blocks(Taps<A> taps, std::int64_t stride, const A* from, std::int64_t count, A* to,
                     RowPrefetch prefetch) {
  const hn::ScalableTag<A> d;
  constexpr int kVectors = RegisterBlocks::kRowPassVectors;
  const auto step = kVectors * static_cast<std::int64_t>(hn::Lanes(d));
  for_each_block(count, step, [=](std::int64_t i) HWY_ATTR {
    prefetch.fetch(i, step);
    row_pass_block<kVectors, kHasGroups>(d, taps, stride, from + i, to + i);
  });
}

/// to[i] = sum over k of taps[k] * from[i + k * stride] for i in [0, count). Reads and writes at least a
/// whole vector.
template <class A>
void row_pass(Taps<A> taps, std::int64_t stride, const A* from, std::int64_t count, A* to,
              RowPrefetch prefetch = {}) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (count >= RegisterBlocks::kRowPassVectors * lanes) {
    if constexpr (hn::MaxLanes(d) * sizeof(A) == kAlignment) {
      if (stride == 1 && taps.count > static_cast<std::int64_t>(16 / sizeof(A))) {
        return row_pass_blocks<true>(taps, stride, from, count, to, prefetch);
      }
    }
    row_pass_blocks<false>(taps, stride, from, count, to, prefetch);
  } else if (count >= lanes) {
    for_each_block(count, lanes, [=](std::int64_t i) HWY_ATTR {
      row_pass_block<1, false>(d, taps, stride, from + i, to + i);
    });
  } else {
    row_pass_block<1, false>(d, taps, stride, from, to);
  }
}

/// Locates the vectors of a row of a window: kVectors side by side from element i on.
template <class A>
struct OneWindow {
  const A* const* rows;
  std::int64_t i;
  HWY_INLINE const A* operator()(std::int64_t row, std::int64_t vector, std::size_t lanes) const {
    return rows[row] + i + vector * static_cast<std::int64_t>(lanes);
  }
};

/// Adds row `j` of a window to the output rows [kFirst, kEnd). `taps` points at the tap of output row 0;
/// output row r uses taps[-r].
template <int kFirst, int kEnd, int kRows, int kVectors, class D, class Window, class A = hn::TFromD<D>>
HWY_INLINE void add_row(D d, const A* taps, const Window& window, std::int64_t j,
                        hn::Vec<D> (&sum)[kRows][kVectors]) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> x[kVectors];
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) x[v] = hn::LoadU(d, window(j, v, lanes));
  SEPCONV_UNROLL for (int r = kFirst; r < kEnd; ++r) {
    const auto tap = hn::Set(d, taps[-r]);
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = fused_multiply_add(tap, x[v], sum[r][v]);
  }
}

/// The first kRows - 1 rows of a window, which only the upper output rows reach.
template <int kRows, int kVectors, class D, class Window, class A, int... kRow>
HWY_INLINE void add_head(D d, Taps<A> taps, const Window& window, hn::Vec<D> (&sum)[kRows][kVectors],
                         std::integer_sequence<int, kRow...>) {
  (add_row<0, kRow + 1>(d, taps.data + kRow, window, kRow, sum), ...);
}

/// The last kRows - 1 rows of a window, which only the lower output rows reach.
template <int kRows, int kVectors, class D, class Window, class A, int... kRow>
HWY_INLINE void add_tail(D d, Taps<A> taps, const Window& window, hn::Vec<D> (&sum)[kRows][kVectors],
                         std::integer_sequence<int, kRow...>) {
  (add_row<kRow + 1, kRows>(d, taps.data + taps.count + kRow, window, taps.count + kRow, sum), ...);
}

/// kRows x kVectors vectors of sums together, so that a vector of the window is loaded once for kRows output
/// rows. Needs at least kRows - 1 taps.
template <int kRows, int kVectors, class D, class Window, class A = hn::TFromD<D>>
HWY_INLINE void column_sums(D d, Taps<A> taps, const Window& window, hn::Vec<D> (&sum)[kRows][kVectors]) {
  SEPCONV_UNROLL for (int r = 0; r < kRows; ++r) {
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  [[maybe_unused]] constexpr std::make_integer_sequence<int, kRows - 1> kEnds;
  if constexpr (kRows > 1) add_head(d, taps, window, sum, kEnds);
  for (std::int64_t j = kRows - 1; j < taps.count; ++j) add_row<0, kRows>(d, taps.data + j, window, j, sum);
  if constexpr (kRows > 1) add_tail(d, taps, window, sum, kEnds);
}

/// Computes kRows x kVectors vectors of output; at least kRows - 1 taps. kPastCaches: see column_pass_for.
template <int kRows, int kVectors, bool kPastCaches, class D, class T, class A = hn::TFromD<D>>
HWY_INLINE void column_pass_block(D d, Taps<A> taps, const A* const* window, std::int64_t i, T* to,
                                  std::int64_t pitch) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kRows][kVectors];
  column_sums(d, taps, OneWindow<A>{window, i}, sum);
  SEPCONV_UNROLL for (int r = 0; r < kRows; ++r) {
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) {
      if constexpr (kPastCaches) hn::Stream(sum[r][v], d, to + r * pitch + v * lanes);
      if constexpr (!kPastCaches) store_vector(d, sum[r][v], to + r * pitch + v * lanes);
    }
  }
}

/// Rows narrower than a vector: computed as whole vectors in scratch rows and copied.
template <int kRows, class D, class T, class A = hn::TFromD<D>>
HWY_INLINE void column_pass_narrow(D d, Taps<A> taps, const A* const* window, std::int64_t count, T* to,
                                   std::int64_t pitch) {
  constexpr std::int64_t kPitch = hn::MaxLanes(D());
  T whole[kRows * kPitch];
  column_pass_block<kRows, 1, false>(d, taps, window, 0, whole, kPitch);
  for (int r = 0; r < kRows; ++r) std::copy_n(whole + r * kPitch, count, to + r * pitch);
}

/// Number of elements from `to` to the next cache line.
template <class T>
std::int64_t elements_to_line(const T* to) {
  const auto misalignment = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kAlignment);
  return (kAlignment - misalignment) % kAlignment / static_cast<std::int64_t>(sizeof(T));
}

/// kRows output rows of `count` elements, `pitch` elements apart: row r is the sum over k of taps[k] *
/// window[r + k].
template <int kRows, bool kPastCaches, class A, class T>
void column_pass(Taps<A> taps, const A* const* window, std::int64_t count, T* to, std::int64_t pitch) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr int kVectors = RegisterBlocks::kColSums / kRows;
  const std::int64_t step = kVectors * lanes;
  if (count >= step) {
    std::int64_t i = 0;
    // Only whole cache lines can pass the caches; the first may begin within a vector.
    if constexpr (kPastCaches && kVectors * hn::MaxLanes(d) * sizeof(A) % kAlignment == 0) {
      i = elements_to_line(to);
      if (i > 0) column_pass_block<kRows, kVectors, false>(d, taps, window, 0, to, pitch);
      for (; i + step <= count; i += step)
        column_pass_block<kRows, kVectors, true>(d, taps, window, i, to + i, pitch);
    }
    const auto block = [=](std::int64_t at) HWY_ATTR {
      column_pass_block<kRows, kVectors, false>(d, taps, window, at, to + at, pitch);
    };
    for_each_block(count, step, block, i);
  } else if (count >= lanes) {
    for_each_block(count, lanes, [=](std::int64_t i) HWY_ATTR {
      column_pass_block<kRows, 1, false>(d, taps, window, i, to + i, pitch);
    });
  } else {
    column_pass_narrow<kRows>(d, taps, window, count, to, pitch);
  }
}

/// column_pass for any number of rows: as many at a time as registers and taps allow, then halves of that.
template <int kRows, bool kPastCaches, class A, class T>
void column_pass_rows(Taps<A> taps, const A* const* window, std::int64_t rows, std::int64_t count, T* to,
                      std::int64_t pitch) {
  for (; rows >= kRows && taps.count >= kRows - 1; rows -= kRows, window += kRows, to += kRows * pitch) {
    column_pass<kRows, kPastCaches>(taps, window, count, to, pitch);
  }
  if constexpr (kRows > 1) column_pass_rows<kRows / 2, kPastCaches>(taps, window, rows, count, to, pitch);
}

/// The column pass to pixels of a type known at run time. `pitch_bytes` is that of the output rows.
template <class A>
using ColumnPass = void (*)(Taps<A> taps, const A* const* window, std::int64_t rows, std::int64_t count,
                            std::byte* to, std::int64_t pitch_bytes);

template <class A, class T, bool kPastCaches>
void column_pass_to(Taps<A> taps, const A* const* window, std::int64_t rows, std::int64_t count,
                    std::byte* to, std::int64_t pitch_bytes) {
  column_pass_rows<RegisterBlocks::kColRows, kPastCaches>(taps, window, rows, count, reinterpret_cast<T*>(to),
                                                          pitch_bytes / static_cast<std::int64_t>(sizeof(T)));
}

/// `past_caches`: stores of whole cache lines bypass the caches (allowed if stores_past_caches()). Call
/// hwy::FlushStream() before another thread reads them.
template <class A>
ColumnPass<A> column_pass_for(PixelType type, bool past_caches = false) {
  return visit_pixel_type(type, [=]<class T>(std::type_identity<T>) -> ColumnPass<A> {
    if constexpr (std::is_same_v<T, A>) {
      if (past_caches) return column_pass_to<A, T, true>;
    }
    return column_pass_to<A, T, false>;
  });
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
