// Both passes of few taps over integers: filtered rows stay in registers. Included once per target.
#if defined(SEPCONV_CONV_FEW_BY_FEW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_FEW_BY_FEW_INL_H
#undef SEPCONV_CONV_FEW_BY_FEW_INL_H
#else
#define SEPCONV_CONV_FEW_BY_FEW_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "sepconv/core/image.hpp"
#include "sepconv/core/worker.hpp"
#include "sepconv/kernels/conv/border.hpp"
#include "sepconv/kernels/conv/few_by_few.hpp"
#include "sepconv/kernels/conv/padded_row.hpp"
#include "sepconv/kernels/conv/passes-inl.h"
#include "sepconv/kernels/conv/strips.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

// With 16 registers, as AVX2 has, the two passes one after the other were as fast or faster.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET <= HWY_AVX3

/// Rows of FewByFew::kBlock results one below the other.
template <class T>
struct FewByFewBlock {
  const T* const* window;     ///< the rows under them, 2 * radius more
  std::int64_t first;         ///< the element of each that the first row tap of the first result is for
  std::int64_t rows, stride;  ///< stride: elements from tap to tap
  T* to;
  std::int64_t pitch;  ///< elements
  bool past_caches;    ///< `to` and `pitch` are whole cache lines
};

constexpr int kFewVectors = FewByFew::kBlock / 16;
using FewVectors = hn::Vec<hn::ScalableTag<float>>[kFewVectors];

HWY_INLINE void store_line(__m512i line, void* to, bool past_caches) {
  if (past_caches) return _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  _mm512_storeu_si512(to, line);
}

/// As store_vector of each, for sums below 2^31: narrowing two vectors into one takes 16 bytes of either in
/// turn, which a permutation of the last one puts in order. That is half the instructions.
template <class T>
HWY_INLINE void store_block(const FewVectors& sum, T* to, bool past_caches) {
  __m512i whole[kFewVectors];
  SEPCONV_UNROLL for (int v = 0; v < kFewVectors; ++v) whole[v] = _mm512_cvtps_epi32(sum[v].raw);
  if constexpr (sizeof(T) == 1) {
    const __m512i turns =
        _mm512_packus_epi16(_mm512_packs_epi32(whole[0], whole[1]), _mm512_packs_epi32(whole[2], whole[3]));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store_line(_mm512_permutexvar_epi32(order, turns), to, past_caches);
  } else {
    static_assert(sizeof(T) == 2);
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    SEPCONV_UNROLL for (int v = 0; v < kFewVectors; v += 2) {
      const __m512i turns = std::is_signed_v<T> ? _mm512_packs_epi32(whole[v], whole[v + 1])
                                                : _mm512_packus_epi32(whole[v], whole[v + 1]);
      store_line(_mm512_permutexvar_epi64(order, turns), to + v * 16, past_caches);
    }
  }
}

/// The row pass. Each vector is loaded and converted once for each tap, by units that the multiply-adds leave
/// idle: as fast as shifting it together from those that are there, and for any stride.
template <int kTaps, class T>
HWY_INLINE void filter_few(const float* taps, std::int64_t stride, const T* from, FewVectors& filtered) {
  const hn::ScalableTag<float> d;
  for (int at = 0; at < FewByFew::kBlock * int(sizeof(T)); at += kAlignment)
    __builtin_prefetch(reinterpret_cast<const std::byte*>(from) + FewByFew::kPrefetchBytes + at);
  SEPCONV_UNROLL for (int v = 0; v < kFewVectors; ++v) filtered[v] = hn::Zero(d);
  SEPCONV_UNROLL for (int k = 0; k < kTaps; ++k) {
    const auto tap = hn::Set(d, taps[k]);
    SEPCONV_UNROLL for (int v = 0; v < kFewVectors; ++v) filtered[v] =
        fused_multiply_add(tap, load_vector(d, from + k * stride + v * 16), filtered[v]);
  }
}

/// A row of the window is filtered and added to the sums of the rows of output that have it under a tap; the
/// uppermost of them is complete then.
template <int kTaps, class T>
void few_by_few(const float* row_taps, const float* col_taps, const FewByFewBlock<T>& block) {
  const hn::ScalableTag<float> d;
  FewVectors sum[kTaps], filtered;
  SEPCONV_UNROLL for (int r = 0; r < kTaps; ++r) {
    SEPCONV_UNROLL for (int v = 0; v < kFewVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  T* to = block.to;
  for (std::int64_t j = 0; j < block.rows + kTaps - 1; ++j) {
    filter_few<kTaps>(row_taps, block.stride, block.window[j] + block.first, filtered);
    SEPCONV_UNROLL for (int r = 0; r < kTaps; ++r) {
      const auto tap = hn::Set(d, col_taps[kTaps - 1 - r]);
      SEPCONV_UNROLL for (int v = 0; v < kFewVectors; ++v) sum[r][v] =
          fused_multiply_add(tap, filtered[v], sum[r][v]);
    }
    if (j >= kTaps - 1) {
      store_block(sum[0], to, block.past_caches);
      to += block.pitch;
    }
    SEPCONV_UNROLL for (int v = 0; v < kFewVectors; ++v) {
      SEPCONV_UNROLL for (int r = 0; r < kTaps - 1; ++r) sum[r][v] = sum[r + 1][v];
      sum[kTaps - 1][v] = hn::Zero(d);
    }
  }
}

template <class T>
auto few_by_few_for(std::int64_t radius) {
  constexpr decltype(&few_by_few<3, T>) kAll[] = {few_by_few<3, T>, few_by_few<5, T>, few_by_few<7, T>,
                                                  few_by_few<9, T>, few_by_few<11, T>};
  static_assert(std::size(kAll) == FewByFew::kMostRadius);
  return kAll[radius - 1];
}

/// The pixels of `out`, for which few_by_few_fits().
template <class T>
class FewByFewFilter {
 public:
  FewByFewFilter(const float* row_taps, const float* col_taps, std::int64_t radius, const Border& border,
                 const ConstRegion& in, const Region& out)
      : row_taps_(row_taps),
        col_taps_(col_taps),
        radius_(radius),
        border_(border),
        in_(in),
        out_(out),
        channels_(in.pixels.channels),
        columns_(out.rect.col, out.rect.cols, radius, in.image.cols),
        past_caches_(stores_past_caches(out, out.pixels.type)),
        filter_(few_by_few_for<T>(radius)) {}

  /// Ends with Cancelled when `worker` is to stop.
  void run(const Worker& worker) {
    const std::int64_t step = FewByFew::rows(radius_);
    for (std::int64_t row = out_.rect.row; row < out_.rect.row_end(); row += step) {
      worker.throw_if_stopped();
      filter_rows(row, std::min(step, out_.rect.row_end() - row));
    }
  }

 private:
  void filter_rows(std::int64_t row, std::int64_t rows) {
    rows_inside_ = true;
    for (std::int64_t j = 0; j < rows + 2 * radius_; ++j) {
      const std::int64_t image_row = border_index(row - radius_ + j, in_.image.rows, border_.mode);
      window_[j] = image_row < 0 ? nullptr : in_.pixels.template row<T>(image_row - in_.rect.row);
      rows_inside_ = rows_inside_ && image_row >= 0;
    }
    T* const to = out_.pixels.template row<T>(row - out_.rect.row);
    const std::int64_t count = out_.pixels.row_elements();
    std::int64_t i = 0;
    if (past_caches_) {  // only whole cache lines can, and the first may begin within a block
      i = elements_to_line(to);
      if (i > 0) filter_block(rows, 0, to, false);
      for (; i + FewByFew::kBlock <= count; i += FewByFew::kBlock) filter_block(rows, i, to + i, true);
    }
    for_each_block(
        count, FewByFew::kBlock, [&](std::int64_t at) { filter_block(rows, at, to + at, false); }, i);
  }

  void filter_block(std::int64_t rows, std::int64_t i, T* to, bool past_caches) {
    FewByFewBlock<T> block{window_, i + (columns_.first - in_.rect.col) * channels_,   rows,       channels_,
                           to,      out_.pixels.pitch_bytes / std::int64_t(sizeof(T)), past_caches};
    if (!rows_inside_ || !inside(i)) {
      gather(rows, i);
      block.window = gathered_window_;
      block.first = i % channels_;
    }
    filter_(row_taps_, col_taps_, block);
  }

  /// Whether all that the block from element i on needs of a row is in the image.
  bool inside(std::int64_t i) const {
    const std::int64_t end = i + FewByFew::kBlock + 2 * radius_ * channels_;
    return i >= columns_.before() * channels_ && end <= (columns_.before() + columns_.inside()) * channels_;
  }

  /// Brings together what the block from element i on needs, with what the border has, from a whole pixel on.
  void gather(std::int64_t rows, std::int64_t i) {
    const std::int64_t col = columns_.first + i / channels_;
    const std::int64_t end = columns_.first + ceil_div(i + FewByFew::kBlock, channels_) + 2 * radius_;
    const auto constant = static_cast<T>(border_.value);
    for (std::int64_t j = 0; j < rows + 2 * radius_; ++j) {
      gathered_window_[j] = gathered_[j];
      if (window_[j] == nullptr) {
        std::fill_n(gathered_[j], (end - col) * channels_, constant);
      } else {
        copy_extended(window_[j] - in_.rect.col * channels_, col, end, in_.image.cols, border_.mode,
                      channels_, constant, gathered_[j]);
      }
    }
  }

  const float *row_taps_, *col_taps_;
  std::int64_t radius_;
  Border border_;
  ConstRegion in_;
  Region out_;
  std::int64_t channels_;
  PaddedColumns columns_;
  bool past_caches_;
  decltype(few_by_few_for<T>(1)) filter_;
  bool rows_inside_ = true;
  const T* window_[FewByFew::kMostWindow];
  const T* gathered_window_[FewByFew::kMostWindow];
  T gathered_[FewByFew::kMostWindow][FewByFew::kBlock + 3 * FewByFew::kMostReach];
};

/// The convolution, if it is one of those that few_by_few_fits() and this instruction set gains by it.
inline bool convolve_few_by_few(const SeparableTaps& taps, Taps<float> row, Taps<float> col,
                                const Border& border, const ConstRegion& in, const Region& out,
                                const Worker& worker) {
  if (!few_by_few_fits(taps, border, in, out)) return false;
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      FewByFewFilter<T>(row.data, col.data, taps.row_radius(), border, in, out).run(worker);
  });
  return true;
}

#else

inline bool convolve_few_by_few(const SeparableTaps&, Taps<float>, Taps<float>, const Border&,
                                const ConstRegion&, const Region&, const Worker&) {
  return false;
}

#endif  // HWY_TARGET

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
