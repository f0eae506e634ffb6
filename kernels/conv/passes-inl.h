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

#include "sepconv/kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Taps of one pass in the arithmetic type.
template <class A>
struct Taps {
  const A* data = nullptr;
  std::int64_t count = 0;
};

/// Register blocks: accumulators must hide the latency of a fused multiply-add (4 cycles, 2 a cycle) and fit,
/// with a vector of input and one of taps, into the registers: 32 on AVX3 and NEON, 16 on AVX2.
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

/// Calls block(i) for blocks of `step` elements that cover [0, count); the last one overlaps its neighbour
/// where count is no multiple, which computes the same bits twice. count >= step.
template <class Block>
HWY_INLINE void for_each_block(std::int64_t count, std::int64_t step, const Block& block) {
  for (std::int64_t i = 0; i < count; i += step) block(std::min(i, count - step));
}

template <int kVectors, class D, class A = hn::TFromD<D>>
HWY_INLINE void row_pass_block(D d, Taps<A> taps, std::int64_t stride, const A* from, A* to) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kVectors];
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (std::int64_t k = 0; k < taps.count; ++k, from += stride) {
    const auto tap = hn::Set(d, taps.data[k]);
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) {
      sum[v] = fused_multiply_add(tap, hn::LoadU(d, from + v * lanes), sum[v]);
    }
  }
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, to + v * lanes);
}

/// to[i] = sum over k of taps[k] * from[i + k * stride] for i in [0, count). A count below the vector's lanes
/// reads and writes a whole vector all the same.
template <class A>
void row_pass(Taps<A> taps, std::int64_t stride, const A* from, std::int64_t count, A* to) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr int kVectors = RegisterBlocks::kRowPassVectors;
  if (count >= kVectors * lanes) {
    for_each_block(count, kVectors * lanes, [&](std::int64_t i) HWY_ATTR {
      row_pass_block<kVectors>(d, taps, stride, from + i, to + i);
    });
  } else if (count >= lanes) {
    for_each_block(count, lanes,
                   [&](std::int64_t i) HWY_ATTR { row_pass_block<1>(d, taps, stride, from + i, to + i); });
  } else {
    row_pass_block<1>(d, taps, stride, from, to);
  }
}

/// Adds one input row of a window to the output rows [kFirst, kEnd) above it; `taps` points at the tap that
/// output row 0 has there, so that row r has the r-th before it.
template <int kFirst, int kEnd, int kRows, int kVectors, class D, class A = hn::TFromD<D>>
HWY_INLINE void add_row(D d, const A* taps, const A* row, hn::Vec<D> (&sum)[kRows][kVectors]) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> x[kVectors];
  SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) x[v] = hn::LoadU(d, row + v * lanes);
  SEPCONV_UNROLL for (int r = kFirst; r < kEnd; ++r) {
    const auto tap = hn::Set(d, taps[-r]);
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = fused_multiply_add(tap, x[v], sum[r][v]);
  }
}

/// The first kRows - 1 rows of a window, which only the upper output rows reach.
template <int kRows, int kVectors, class D, class A, int... kRow>
HWY_INLINE void add_head(D d, Taps<A> taps, const A* const* window, std::int64_t i,
                         hn::Vec<D> (&sum)[kRows][kVectors], std::integer_sequence<int, kRow...>) {
  (add_row<0, kRow + 1>(d, taps.data + kRow, window[kRow] + i, sum), ...);
}

/// The last kRows - 1 rows of a window, which only the lower output rows reach.
template <int kRows, int kVectors, class D, class A, int... kRow>
HWY_INLINE void add_tail(D d, Taps<A> taps, const A* const* window, std::int64_t i,
                         hn::Vec<D> (&sum)[kRows][kVectors], std::integer_sequence<int, kRow...>) {
  (add_row<kRow + 1, kRows>(d, taps.data + taps.count + kRow, window[taps.count + kRow] + i, sum), ...);
}

/// kRows x kVectors vectors of output at once, so that a vector of the window is loaded once for kRows rows
/// of output. There are at least kRows - 1 taps.
template <int kRows, int kVectors, class D, class T, class A = hn::TFromD<D>>
HWY_INLINE void column_pass_block(D d, Taps<A> taps, const A* const* window, std::int64_t i, T* to,
                                  std::int64_t pitch) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kRows][kVectors];
  SEPCONV_UNROLL for (int r = 0; r < kRows; ++r) {
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  [[maybe_unused]] constexpr std::make_integer_sequence<int, kRows - 1> kEnds;
  if constexpr (kRows > 1) add_head(d, taps, window, i, sum, kEnds);
  for (std::int64_t j = kRows - 1; j < taps.count; ++j) {
    add_row<0, kRows>(d, taps.data + j, window[j] + i, sum);
  }
  if constexpr (kRows > 1) add_tail(d, taps, window, i, sum, kEnds);
  SEPCONV_UNROLL for (int r = 0; r < kRows; ++r) {
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) store_vector(d, sum[r][v], to + r * pitch + v * lanes);
  }
}

/// Rows narrower than a vector: computed whole, in scratch rows that have room, and copied out.
template <int kRows, class D, class T, class A = hn::TFromD<D>>
HWY_INLINE void column_pass_narrow(D d, Taps<A> taps, const A* const* window, std::int64_t count, T* to,
                                   std::int64_t pitch) {
  constexpr std::int64_t kPitch = hn::MaxLanes(D());
  T whole[kRows * kPitch];
  column_pass_block<kRows, 1>(d, taps, window, 0, whole, kPitch);
  for (int r = 0; r < kRows; ++r) std::copy_n(whole + r * kPitch, count, to + r * pitch);
}

/// kRows output rows of `count` elements, `pitch` elements apart: row r is the sum over k of taps[k] *
/// window[r + k].
template <int kRows, class A, class T>
void column_pass(Taps<A> taps, const A* const* window, std::int64_t count, T* to, std::int64_t pitch) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr int kVectors = RegisterBlocks::kColSums / kRows;
  if (count >= kVectors * lanes) {
    for_each_block(count, kVectors * lanes, [&](std::int64_t i) HWY_ATTR {
      column_pass_block<kRows, kVectors>(d, taps, window, i, to + i, pitch);
    });
  } else if (count >= lanes) {
    for_each_block(count, lanes, [&](std::int64_t i) HWY_ATTR {
      column_pass_block<kRows, 1>(d, taps, window, i, to + i, pitch);
    });
  } else {
    column_pass_narrow<kRows>(d, taps, window, count, to, pitch);
  }
}

/// As column_pass for any number of rows: as many at once as the registers hold and the taps allow, then
/// halves of that.
template <int kRows, class A, class T>
void column_pass_rows(Taps<A> taps, const A* const* window, std::int64_t rows, std::int64_t count, T* to,
                      std::int64_t pitch) {
  for (; rows >= kRows && taps.count >= kRows - 1; rows -= kRows, window += kRows, to += kRows * pitch) {
    column_pass<kRows>(taps, window, count, to, pitch);
  }
  if constexpr (kRows > 1) column_pass_rows<kRows / 2>(taps, window, rows, count, to, pitch);
}

/// The column pass to pixels of a type known at run time; `pitch_bytes` from output row to output row.
template <class A>
using ColumnPass = void (*)(Taps<A> taps, const A* const* window, std::int64_t rows, std::int64_t count,
                            std::byte* to, std::int64_t pitch_bytes);

template <class A>
ColumnPass<A> column_pass_for(PixelType type) {
  return visit_pixel_type(type, []<class T>(std::type_identity<T>) -> ColumnPass<A> {
    return [](Taps<A> taps, const A* const* window, std::int64_t rows, std::int64_t count, std::byte* to,
              std::int64_t pitch_bytes) {
      column_pass_rows<RegisterBlocks::kColRows>(taps, window, rows, count, reinterpret_cast<T*>(to),
                                                 pitch_bytes / static_cast<std::int64_t>(sizeof(T)));
    };
  });
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
