// Vector loads and stores: any pixel type in memory, the arithmetic type in registers. Included once per
// target.
#if defined(SEPCONV_SIMD_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_SIMD_VECTORS_INL_H
#undef SEPCONV_SIMD_VECTORS_INL_H
#else
#define SEPCONV_SIMD_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/simd/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a * b + c with one rounding on every target. Highway's MulAdd rounds twice on processors without such an
/// instruction; std::fma is slow there but gives the same bits.
template <class V>
HWY_INLINE V fused_multiply_add(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const hn::DFromV<V> d;
  using A = hn::TFromV<V>;
  alignas(64) A lanes[3][hn::MaxLanes(d)];
  hn::Store(a, d, lanes[0]);
  hn::Store(b, d, lanes[1]);
  hn::Store(c, d, lanes[2]);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    lanes[0][i] = std::fma(lanes[0][i], lanes[1][i], lanes[2][i]);
  return hn::Load(d, lanes[0]);
#endif
}

/// Loads Lanes(d) elements from unaligned memory.
template <class D, class T, class A = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_vector(D d, const T* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, to_arithmetic<A>(*from));
#else
  if constexpr (std::is_same_v<T, A>) {
    return hn::LoadU(d, from);
  } else if constexpr (std::is_same_v<T, float>) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
  } else if constexpr (std::is_same_v<T, double>) {
    const hn::Half<D> half;
    const hn::Rebind<double, hn::Half<D>> d64;
    return hn::Combine(d, hn::DemoteTo(half, hn::LoadU(d64, from + hn::Lanes(d64))),
                       hn::DemoteTo(half, hn::LoadU(d64, from)));
  } else {
    const hn::Rebind<std::int32_t, D> d32;
    const auto integers = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<T, D>(), from));
    if constexpr (std::is_same_v<A, float>) return hn::ConvertTo(d, integers);
    if constexpr (std::is_same_v<A, double>) return hn::PromoteTo(d, integers);
  }
#endif
}

/// Clamps to the range of the integer type T, without rounding; NaN becomes 0.
template <class T, class D>
HWY_INLINE hn::Vec<D> clamp_to_integer(D d, hn::Vec<D> v) {
  using A = hn::TFromD<D>;
  // For unsigned types x86's max(NaN, 0) is already 0: it returns the second operand.
  const bool maximum_drops_nan = HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && std::is_unsigned_v<T>;
  const auto number = maximum_drops_nan ? v : hn::IfThenElseZero(hn::Eq(v, v), v);
  return hn::Min(hn::Max(number, hn::Set(d, static_cast<A>(std::numeric_limits<T>::lowest()))),
                 hn::Set(d, static_cast<A>(std::numeric_limits<T>::max())));
}

/// Rounds half to even; |v| < 2^22. Adding 1.5 * 2^23 leaves the integer in the low bits of the sum. This
/// takes one addition and one subtraction, while NearestInt also guards against overflow.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> round_small(D d, hn::Vec<D> v) {
  const hn::RebindToSigned<D> di;
  const auto magic = hn::Set(d, 12582912.0f);
  return hn::Sub(hn::BitCast(di, hn::Add(v, magic)), hn::BitCast(di, magic));
}

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET <= HWY_AVX3

/// Clamps, rounds and stores. The conversion rounds half to even and gives -2^31 on overflow; the following
/// narrowing saturates. Unsigned narrowing reads -2^31 as 2^31, which saturates correctly.
template <class D, class T>
HWY_INLINE void narrow_and_store(D d, hn::Vec<D> v, T* to) {
  const auto zero = hn::Zero(d);
  if constexpr (std::is_unsigned_v<T>) {
    const __m512i integers =
        _mm512_cvtps_epi32(_mm512_max_ps(v.raw, zero.raw));  // max(NaN, 0) returns the second operand
    if constexpr (sizeof(T) == 1)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(integers));
    if constexpr (sizeof(T) == 2)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtusepi32_epi16(integers));
  } else {
    static_assert(sizeof(T) == 2);
    const auto below = hn::Min(hn::IfThenElseZero(hn::Eq(v, v), v),
                               hn::Set(d, static_cast<float>(std::numeric_limits<T>::max())));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(below.raw)));
  }
}

#else

template <class D, class T>
HWY_INLINE void narrow_and_store(D d, hn::Vec<D> v, T* to) {
  const hn::Rebind<T, D> d_pixel;
  hn::StoreU(hn::DemoteTo(d_pixel, round_small(d, clamp_to_integer<T>(d, v))), d_pixel, to);
}

#endif

/// Vector version of to_pixel: integer types round half to even and saturate, NaN becomes 0.
template <class D, class T, class A = hn::TFromD<D>>
HWY_INLINE void store_vector(D d, hn::Vec<D> v, T* to) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  *to = to_pixel<T>(hn::GetLane(v));
#else
  if constexpr (std::is_same_v<T, A>) {
    hn::StoreU(v, d, to);
  } else if constexpr (std::is_same_v<T, float>) {
    const hn::Rebind<float, D> d32;
    hn::StoreU(hn::DemoteTo(d32, v), d32, to);
  } else if constexpr (std::is_same_v<T, double>) {
    const hn::Half<D> half;
    const hn::Rebind<double, hn::Half<D>> d64;
    hn::StoreU(hn::PromoteTo(d64, hn::LowerHalf(half, v)), d64, to);
    hn::StoreU(hn::PromoteTo(d64, hn::UpperHalf(half, v)), d64, to + hn::Lanes(d64));
  } else {
    if constexpr (std::is_same_v<A, float>) {
      narrow_and_store(d, v, to);
    } else {  // the conversion of f64 truncates: round first
      const hn::Rebind<T, D> d_pixel;
      const hn::Rebind<std::int32_t, D> d32;
      hn::StoreU(hn::DemoteTo(d_pixel, hn::DemoteTo(d32, hn::Round(clamp_to_integer<T>(d, v)))), d_pixel, to);
    }
  }
#endif
}

/// to_pixel<T>, converted back to the arithmetic type.
template <class T, class D>
HWY_INLINE hn::Vec<D> round_to(D d, hn::Vec<D> a) {
  using A = hn::TFromD<D>;
  if constexpr (std::is_floating_point_v<T>) {
    alignas(64) T pixels[hn::MaxLanes(D())];
    store_vector(d, a, pixels);
    return load_vector(d, pixels);
  } else {
    // -0.3 rounds to -0, which integers do not have: + 0 gives +0.
    return hn::Add(hn::Round(clamp_to_integer<T>(d, a)), hn::Set(d, A(0)));
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
