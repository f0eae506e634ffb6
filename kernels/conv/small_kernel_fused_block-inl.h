// A block of both passes of a small kernel over integers; filtered rows stay in registers. Included once per
// target.
#if defined(SEPCONV_CONV_FEW_BY_FEW_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_FEW_BY_FEW_BLOCK_INL_H
#undef SEPCONV_CONV_FEW_BY_FEW_BLOCK_INL_H
#else
#define SEPCONV_CONV_FEW_BY_FEW_BLOCK_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "kernels/conv/passes-inl.h"
#include "kernels/conv/small_kernel_fused.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

// With the 16 registers of AVX2, two separate passes were as fast or faster.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET <= HWY_AVX3

/// A block of `rows` rows of SmallKernel::kBlock results.
template <class T>
struct SmallKernelBlock {
  const T* const* window;     ///< the rows + 2 * radius input rows
  std::int64_t first;         ///< element of an input row under the first row tap of the first result
  std::int64_t rows, stride;  ///< stride: elements from tap to tap
  T* to;
  std::int64_t pitch;  ///< elements
  bool past_caches;    ///< `to` and `pitch` are whole cache lines
};

constexpr int kBlockVectors = SmallKernel::kBlock / 16;
using BlockVectors = hn::Vec<hn::ScalableTag<float>>[kBlockVectors];

HWY_INLINE void store_line(__m512i line, void* to, bool past_caches) {
  if (past_caches) return _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  _mm512_storeu_si512(to, line);
}

/// store_vector for each vector, for sums below 2^31, with half the instructions. Packing two vectors
/// interleaves their 16-byte parts, and one final permutation restores the order.
template <class T>
HWY_INLINE void store_block(const BlockVectors& sum, T* to, bool past_caches) {
  __m512i whole[kBlockVectors];
  SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; ++v) whole[v] = _mm512_cvtps_epi32(sum[v].raw);
  if constexpr (sizeof(T) == 1) {
    const __m512i interleaved =
        _mm512_packus_epi16(_mm512_packs_epi32(whole[0], whole[1]), _mm512_packs_epi32(whole[2], whole[3]));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store_line(_mm512_permutexvar_epi32(order, interleaved), to, past_caches);
  } else {
    static_assert(sizeof(T) == 2);
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; v += 2) {
      const __m512i interleaved = std::is_signed_v<T> ? _mm512_packs_epi32(whole[v], whole[v + 1])
                                                      : _mm512_packus_epi32(whole[v], whole[v + 1]);
      store_line(_mm512_permutexvar_epi64(order, interleaved), to + v * 16, past_caches);
    }
  }
}

/// The row pass. Each vector is loaded and converted once per tap, by units that the multiply-adds leave
/// idle. That is as fast as shifting it together from loaded vectors, and works for any stride.
template <int kTaps, class T>
HWY_INLINE void filter_block_row(const float* taps, std::int64_t stride, const T* from,
                                 BlockVectors& filtered) {
  const hn::ScalableTag<float> d;
  for (int at = 0; at < SmallKernel::kBlock * int(sizeof(T)); at += kAlignment)
    __builtin_prefetch(reinterpret_cast<const std::byte*>(from) + SmallKernel::kPrefetchBytes + at);
  SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; ++v) filtered[v] = hn::Zero(d);
  SEPCONV_UNROLL for (int k = 0; k < kTaps; ++k) {
    const auto tap = hn::Set(d, taps[k]);
    SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; ++v) filtered[v] =
        fused_multiply_add(tap, load_vector(d, from + k * stride + v * 16), filtered[v]);
  }
}

/// Filters each row of the window and adds it to the sums of all output rows that use it; the uppermost of
/// them is then complete.
template <int kTaps, class T>
void small_kernel_fused(const float* row_taps, const float* col_taps, const SmallKernelBlock<T>& block) {
  const hn::ScalableTag<float> d;
  BlockVectors sum[kTaps], filtered;
  SEPCONV_UNROLL for (int r = 0; r < kTaps; ++r) {
    SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  T* to = block.to;
  for (std::int64_t j = 0; j < block.rows + kTaps - 1; ++j) {
    filter_block_row<kTaps>(row_taps, block.stride, block.window[j] + block.first, filtered);
    SEPCONV_UNROLL for (int r = 0; r < kTaps; ++r) {
      const auto tap = hn::Set(d, col_taps[kTaps - 1 - r]);
      SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; ++v) sum[r][v] =
          fused_multiply_add(tap, filtered[v], sum[r][v]);
    }
    if (j >= kTaps - 1) {
      store_block(sum[0], to, block.past_caches);
      to += block.pitch;
    }
    SEPCONV_UNROLL for (int v = 0; v < kBlockVectors; ++v) {
      SEPCONV_UNROLL for (int r = 0; r < kTaps - 1; ++r) sum[r][v] = sum[r + 1][v];
      sum[kTaps - 1][v] = hn::Zero(d);
    }
  }
}

template <class T>
auto small_kernel_for(std::int64_t radius) {
  constexpr decltype(&small_kernel_fused<3, T>) kAll[] = {small_kernel_fused<3, T>, small_kernel_fused<5, T>,
                                                          small_kernel_fused<7, T>, small_kernel_fused<9, T>,
                                                          small_kernel_fused<11, T>};
  static_assert(std::size(kAll) == SmallKernel::kMaxRadius);
  return kAll[radius - 1];
}

#endif  // HWY_TARGET

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
