// Deviations, and pixels measured by them, in vectors. Included once per target.
#if defined(SEPCONV_WINDOW_DEVIATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_DEVIATION_INL_H
#undef SEPCONV_WINDOW_DEVIATION_INL_H
#else
#define SEPCONV_WINDOW_DEVIATION_INL_H
#endif

#include "sepconv/kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Of means of values and of squares.
template <class V>
HWY_INLINE V deviation_of(V mean, V squares) {
  const auto variance = fused_multiply_add(hn::Neg(mean), mean, squares);
  return hn::IfThenZeroElse(hn::Le(variance, hn::Zero(hn::DFromV<V>())), hn::Sqrt(variance));
}

/// A smaller deviation than `least` counts as that.
template <class V>
HWY_INLINE V contrast_of(V pixel, V mean, V deviation, V least) {
  const auto zero = hn::Zero(hn::DFromV<V>());
  const auto measure = hn::IfThenElse(hn::Gt(deviation, least), deviation, least);
  const auto measured = hn::Or(hn::Gt(measure, zero), hn::IsNaN(pixel));
  const auto contrast = hn::IfThenElseZero(measured, hn::Div(hn::Sub(pixel, mean), measure));
  return hn::IfThenElse(hn::IsNaN(deviation), deviation, contrast);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
