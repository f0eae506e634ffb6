// Deviations, and pixels measured by them, in vectors: spread.hpp once more. Included once per target.
#if defined(SEPCONV_WINDOW_DEVIATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_DEVIATION_INL_H
#undef SEPCONV_WINDOW_DEVIATION_INL_H
#else
#define SEPCONV_WINDOW_DEVIATION_INL_H
#endif

#include <limits>
#include <optional>

#include "kernels/simd/vectors-inl.h"
#include "kernels/sliding_window/spread.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Stands for a result that its sums do not tell until recompute_deviations() makes it.
constexpr double kUntold = -std::numeric_limits<double>::infinity();

/// SpreadSums.
template <class V>
struct SpreadVectors {
  V count, sum, squares, origin;
};

template <class V>
HWY_INLINE V spread_of(const SpreadVectors<V>& sums) {
  const auto product = hn::Mul(sums.count, sums.squares), square = hn::Mul(sums.sum, sums.sum);
  const auto product_low = fused_multiply_add(sums.count, sums.squares, hn::Neg(product));
  const auto square_low = fused_multiply_add(sums.sum, sums.sum, hn::Neg(square));
  const auto high = hn::Sub(product, square), back = hn::Sub(high, product);
  const auto low = hn::Add(hn::Sub(product, hn::Sub(high, back)), hn::Sub(hn::Neg(square), back));
  return hn::Add(high, hn::Add(low, hn::Sub(product_low, square_low)));
}

template <class V>
HWY_INLINE auto is_told_by(const SpreadVectors<V>& sums, V spread) {
  const hn::DFromV<V> d;
  const auto product = hn::Mul(sums.count, sums.squares);
  const auto seen = hn::Ge(spread, hn::Mul(product, hn::Set(d, kMinSpread)));
  return hn::Or(seen, hn::Or(hn::Eq(product, hn::Zero(d)), hn::IsNaN(product)));
}

template <class V>
HWY_INLINE V deviation_of(const SpreadVectors<V>& sums, V spread) {
  const auto zero = hn::Zero(hn::DFromV<V>());
  return hn::Div(hn::IfThenZeroElse(hn::Le(spread, zero), hn::Sqrt(spread)), sums.count);
}

/// A smaller deviation than `least` counts as that.
template <class V>
HWY_INLINE V contrast_of(const SpreadVectors<V>& sums, V pixel, V deviation, V least) {
  const auto zero = hn::Zero(hn::DFromV<V>());
  const auto measure = hn::IfThenElse(hn::Gt(deviation, least), deviation, least);
  const auto measured = hn::Or(hn::Gt(measure, zero), hn::IsNaN(pixel));
  const auto distance = fused_multiply_add(sums.count, hn::Sub(pixel, sums.origin), hn::Neg(sums.sum));
  const auto contrast = hn::IfThenElseZero(measured, hn::Div(hn::Div(distance, sums.count), measure));
  return hn::IfThenElse(hn::IsNaN(deviation), deviation, contrast);
}

/// The deviation, or of a pixel the contrast.
template <class V>
HWY_INLINE V measured_by(const SpreadVectors<V>& sums, V spread, const double* pixel,
                         const std::optional<double>& least) {
  const hn::DFromV<V> d;
  const auto deviation = deviation_of(sums, spread);
  return least ? contrast_of(sums, hn::LoadU(d, pixel), deviation, hn::Set(d, *least)) : deviation;
}

/// The same where the sums tell it, else kUntold; `trusts` sums that are exact.
template <class V>
HWY_INLINE V told_by(const SpreadVectors<V>& sums, bool trusts, const double* pixel,
                     const std::optional<double>& least) {
  const auto spread = spread_of(sums);
  const auto value = measured_by(sums, spread, pixel, least);
  if (trusts) return value;
  return hn::IfThenElse(is_told_by(sums, spread), value, hn::Set(hn::DFromV<V>(), kUntold));
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
