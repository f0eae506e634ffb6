// The row pass of a few taps over pixels that are not of the arithmetic type. Included once per target.
#if defined(SEPCONV_CONV_FEW_TAPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_FEW_TAPS_INL_H
#undef SEPCONV_CONV_FEW_TAPS_INL_H
#else
#define SEPCONV_CONV_FEW_TAPS_INL_H
#endif

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/conv/passes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// row_pass with stride 1 over pixels that it converts itself. Reads up to two vectors beyond `count` and
/// writes whole vectors.
template <class A>
using ShortRowPass = void (*)(const A* taps, const std::byte* from, std::int64_t count, A* to,
                              RowPrefetch prefetch);

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET <= HWY_AVX3

/// The vector that begins kShift elements after `low`; `next` follows `low`.
template <int kShift, class V>
HWY_INLINE V shifted(V low, V next) {
  if constexpr (kShift == 0) return low;
  if constexpr (kShift > 0) {
    return V{_mm512_castsi512_ps(
        _mm512_alignr_epi32(_mm512_castps_si512(next.raw), _mm512_castps_si512(low.raw), kShift))};
  }
}

template <class V, int... kTap>
HWY_INLINE V sum_of(const V* taps, V low, V next, std::integer_sequence<int, kTap...>) {
  V sum = hn::Zero(hn::DFromV<V>());
  ((sum = fused_multiply_add(taps[kTap], shifted<kTap>(low, next), sum)), ...);
  return sum;
}

/// With so few taps, converting a row first and loading each vector once per tap takes longer than the
/// multiply-adds. Here each vector is loaded and converted once; those under the other taps are shifted
/// together from it and the next.
template <int kTaps, class T>
void short_row_pass(const float* taps, const std::byte* from_bytes, std::int64_t count, float* to,
                    RowPrefetch prefetch) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  static_assert(2 * sizeof(T) <=
                sizeof(float));  // the padded row has capacity for `count` floats and kSlackElements
  const T* const from = reinterpret_cast<const T*>(from_bytes);
  hn::Vec<decltype(d)> tap[kTaps];
  SEPCONV_UNROLL for (int k = 0; k < kTaps; ++k) tap[k] = hn::Set(d, taps[k]);
  constexpr int kVectors = RegisterBlocks::kRowPassVectors;
  auto low = load_vector(d, from);
  for (std::int64_t i = 0; i < count; i += kVectors * lanes) {
    prefetch.fetch(i, kVectors * lanes);
    SEPCONV_UNROLL for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = i + v * lanes;
      if (at >= count) return;
      const auto next = load_vector(d, from + at + lanes);
      hn::StoreU(sum_of(tap, low, next, std::make_integer_sequence<int, kTaps>()), d, to + at);
      low = next;
    }
  }
}

/// The pass for this many taps, or null where row_pass is as fast, as measured with 9 taps.
template <class A, class T>
ShortRowPass<A> short_row_pass_for(std::int64_t taps) {
  if constexpr (std::is_same_v<A, float> && std::is_integral_v<T>) {
    if (taps == 3) return short_row_pass<3, T>;
    if (taps == 5) return short_row_pass<5, T>;
  }
  return nullptr;
}

#else

template <class A, class T>
ShortRowPass<A> short_row_pass_for(std::int64_t) {
  return nullptr;
}

#endif

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
