// Medians of 3 x 3 and 5 x 5 pixels, vector by vector in registers. Included once per target.
#if defined(SEPCONV_ORDER_SMALL_MEDIANS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_ORDER_SMALL_MEDIANS_INL_H
#undef SEPCONV_ORDER_SMALL_MEDIANS_INL_H
#else
#define SEPCONV_ORDER_SMALL_MEDIANS_INL_H
#endif

#include <hwy/highway.h>

#include <array>

#include "kernels/rank/rank_block.hpp"
#include "kernels/rank/sorting_network_row-inl.h"
#include "kernels/simd/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class V, std::size_t kCount>
using Vectors = std::array<V, kCount>;  // ascending

template <class V>
HWY_INLINE void exchange(V& a, V& b) {
  const V low = hn::Min(a, b);
  b = hn::Max(a, b);
  a = low;
}

template <class V>
HWY_INLINE V median_of(V a, V b, V c) {
  return hn::Max(hn::Min(a, b), hn::Min(hn::Max(a, b), c));
}

template <class V>
HWY_INLINE void sort(Vectors<V, 3>& v) {
  exchange(v[1], v[2]);
  exchange(v[0], v[1]);
  exchange(v[1], v[2]);
}
template <class V>
HWY_INLINE void sort(Vectors<V, 5>& v) {
  exchange(v[0], v[3]), exchange(v[1], v[4]);
  exchange(v[0], v[2]), exchange(v[1], v[3]);
  exchange(v[0], v[1]), exchange(v[2], v[4]);
  exchange(v[1], v[2]), exchange(v[3], v[4]);
  exchange(v[2], v[3]);
}

/// Every other element of a list, from `kFirst` on.
template <std::size_t kFirst, class V, std::size_t kCount>
HWY_INLINE auto every_other(const Vectors<V, kCount>& list) {
  Vectors<V, (kCount + 1 - kFirst) / 2> half;
  SEPCONV_UNROLL
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = list[2 * i + kFirst];
  return half;
}

/// Batcher's odd-even merge of two lists of equal length. The compiler removes unused outputs.
template <class V, std::size_t kCount>
HWY_INLINE Vectors<V, 2 * kCount> merge(const Vectors<V, kCount>& a, const Vectors<V, kCount>& b) {
  if constexpr (kCount == 1) {
    return {hn::Min(a[0], b[0]), hn::Max(a[0], b[0])};
  } else {
    const auto even = merge(every_other<0>(a), every_other<0>(b));
    const auto odd = merge(every_other<1>(a), every_other<1>(b));
    Vectors<V, 2 * kCount> merged;
    merged[0] = even[0];
    std::size_t at = 1;
    SEPCONV_UNROLL
    for (std::size_t i = 0; i < odd.size(); ++i) {
      if (i + 1 < even.size()) {
        merged[at++] = hn::Min(even[i + 1], odd[i]);
        merged[at++] = hn::Max(even[i + 1], odd[i]);
      } else {
        merged[at++] = odd[i];
      }
    }
    SEPCONV_UNROLL
    for (std::size_t i = odd.size() + 1; i < even.size(); ++i) merged[at++] = even[i];
    return merged;
  }
}

/// Medians of windows of kSide x kSide pixels along a row.
template <class E, std::size_t kSide>
class SmallMedian {
  // Most unaligned loads of 64-byte vectors cross a cache line. If little is computed per load, half vectors
  // are faster.
  static constexpr bool kHalves = kSide == 3 && sizeof(E) > 1;
  using D = std::conditional_t<kHalves, hn::CappedTag<E, 32 / sizeof(E)>, hn::ScalableTag<E>>;
  using V = hn::Vec<D>;

 public:
  /// Scratch elements for rows of `elements`.
  static std::int64_t scratch_elements(std::int64_t elements, std::int64_t channels) {
    return kSide == 3 ? 0 : static_cast<std::int64_t>(kSide) * pitch(elements, channels);
  }

  SmallMedian(std::int64_t elements, std::int64_t channels, Arena& arena)
      : channels_(channels),
        pitch_(pitch(elements, channels)),
        sorted_(kSide == 3 ? nullptr : arena.allocate<E>(scratch_elements(elements, channels))) {}

  /// Computes elements [0, count) from the rows of `input`.
  void run(const RankInput<E>& input, std::int64_t count, E* to) const {
    if constexpr (kSide == 3)
      run_3(input, count, to);
    else
      run_5(input, count, to);
  }

 private:
  static std::int64_t pitch(std::int64_t elements, std::int64_t channels) {
    return round_up(elements + static_cast<std::int64_t>(kSide - 1) * channels + RankTuning::kSlackElements,
                    kAlignment);
  }

  using Rows = std::array<const E*, kSide>;

  static Rows rows_of(const RankInput<E>& input) {
    Rows rows;
    for (std::size_t i = 0; i < kSide; ++i) rows[i] = input.row(static_cast<std::int64_t>(i));
    return rows;
  }

  /// A column's pixels, sorted.
  static HWY_INLINE Vectors<V, kSide> column(const Rows& rows, std::int64_t at) {
    const D d;
    Vectors<V, kSide> pixels;
    SEPCONV_UNROLL
    for (std::size_t i = 0; i < kSide; ++i) pixels[i] = hn::LoadU(d, rows[i] + at);
    sort(pixels);
    return pixels;
  }

  /// The median of three values: the maximum of the columns' minima, the median of their medians, and the
  /// minimum of their maxima.
  void run_3(const RankInput<E>& input, std::int64_t count, E* to) const {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const Rows rows = rows_of(input);
    const E* const prefetched = input.row(4);  // two rows later; only prefetched
    const std::int64_t channels = channels_;
    for (std::int64_t i = 0; i < count; i += lanes) {
      __builtin_prefetch(prefetched + i);
      const Vectors<V, 3> a = column(rows, i), b = column(rows, i + channels),
                          c = column(rows, i + 2 * channels);
      const V max_of_minima = hn::Max(hn::Max(a[0], b[0]), c[0]),
              min_of_maxima = hn::Min(hn::Min(a[2], b[2]), c[2]);
      store_row(without_sign_of_zero(d, median_of(max_of_minima, median_of(a[1], b[1], c[1]), min_of_maxima)),
                d, to, i, count);
    }
  }

  /// Each column is sorted once, and four of them are merged. The 13 smallest pixels are the first 13 - k of
  /// the merged four and the first k of the fifth; the median is the minimum over k of the larger last
  /// element.
  void run_5(const RankInput<E>& input, std::int64_t count, E* to) const {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = 0; i < count + 4 * channels_; i += lanes) {
      const Vectors<V, 5> pixels = column(rows_of(input), i);
      SEPCONV_UNROLL
      for (std::size_t k = 0; k < 5; ++k)
        hn::StoreU(pixels[k], d, sorted_ + static_cast<std::int64_t>(k) * pitch_ + i);
    }
    for (std::int64_t i = 0; i < count; i += lanes) {
      const auto four = merge(merge(load_sorted(i), load_sorted(i + channels_)),
                              merge(load_sorted(i + 2 * channels_), load_sorted(i + 3 * channels_)));
      const Vectors<V, 5> fifth = load_sorted(i + 4 * channels_);
      V median = four[12];
      SEPCONV_UNROLL
      for (std::size_t k = 0; k < 5; ++k) median = hn::Min(median, hn::Max(four[11 - k], fifth[k]));
      store_row(without_sign_of_zero(d, median), d, to, i, count);
    }
  }

  HWY_INLINE Vectors<V, 5> load_sorted(std::int64_t at) const {
    const D d;
    Vectors<V, 5> column;
    SEPCONV_UNROLL
    for (std::size_t k = 0; k < 5; ++k)
      column[k] = hn::LoadU(d, sorted_ + static_cast<std::int64_t>(k) * pitch_ + at);
    return column;
  }

  std::int64_t channels_, pitch_;
  E* sorted_;
};

/// Whether the filter is the median of kSide x kSide pixels of one plane.
template <std::size_t kSide>
bool is_small_median(const RankFilter& filter) {
  constexpr auto kPixels = static_cast<std::int64_t>(kSide);
  const RankWindow& window = filter.window;
  return window.rows() == kPixels && window.cols() == kPixels && window.planes() == 1 &&
         filter.rank == kPixels * kPixels / 2;
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
