// Vector versions of spread.hpp: deviations and contrasts. Included once per target.
#if defined(SEPCONV_WINDOW_DEVIATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_DEVIATION_INL_H
#undef SEPCONV_WINDOW_DEVIATION_INL_H
#else
#define SEPCONV_WINDOW_DEVIATION_INL_H
#endif

#include <limits>
#include <optional>

#include "kernels/simd/vectors-inl.h"
#include "kernels/sliding_window/deviation_formulas.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Marks a result whose sums are too imprecise, until recompute_deviations() replaces it.
constexpr double kImprecise = -std::numeric_limits<double>::infinity();

/// Vector version of SpreadSums.
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
HWY_INLINE auto is_precise(const SpreadVectors<V>& sums, V spread) {
  const hn::DFromV<V> d;
  const auto product = hn::Mul(sums.count, sums.squares);
  const auto is_large_enough = hn::Ge(spread, hn::Mul(product, hn::Set(d, kMinSpread)));
  return hn::Or(is_large_enough, hn::Or(hn::Eq(product, hn::Zero(d)), hn::IsNaN(product)));
}

template <class V>
HWY_INLINE V deviation_of(const SpreadVectors<V>& sums, V spread) {
  const auto zero = hn::Zero(hn::DFromV<V>());
  return hn::Div(hn::IfThenZeroElse(hn::Le(spread, zero), hn::Sqrt(spread)), sums.count);
}

/// (pixel - mean) / max(deviation, min_deviation).
template <class V>
HWY_INLINE V contrast_of(const SpreadVectors<V>& sums, V pixel, V deviation, V min_deviation) {
  const auto zero = hn::Zero(hn::DFromV<V>());
  const auto divisor = hn::IfThenElse(hn::Gt(deviation, min_deviation), deviation, min_deviation);
  const auto is_defined = hn::Or(hn::Gt(divisor, zero), hn::IsNaN(pixel));
  const auto distance = fused_multiply_add(sums.count, hn::Sub(pixel, sums.origin), hn::Neg(sums.sum));
  const auto contrast = hn::IfThenElseZero(is_defined, hn::Div(hn::Div(distance, sums.count), divisor));
  return hn::IfThenElse(hn::IsNaN(deviation), deviation, contrast);
}

/// The contrast of the pixels if `min_deviation` is given, else the deviation.
template <class V>
HWY_INLINE V deviation_or_contrast(const SpreadVectors<V>& sums, V spread, const double* pixel,
                                   const std::optional<double>& min_deviation) {
  const hn::DFromV<V> d;
  const auto deviation = deviation_of(sums, spread);
  return min_deviation ? contrast_of(sums, hn::LoadU(d, pixel), deviation, hn::Set(d, *min_deviation))
                       : deviation;
}

/// deviation_or_contrast() if the sums are precise enough or exact (`is_exact`), else kImprecise.
template <class V>
HWY_INLINE V precise_or_marked(const SpreadVectors<V>& sums, bool is_exact, const double* pixel,
                               const std::optional<double>& min_deviation) {
  const auto spread = spread_of(sums);
  const auto value = deviation_or_contrast(sums, spread, pixel, min_deviation);
  if (is_exact) return value;
  return hn::IfThenElse(is_precise(sums, spread), value, hn::Set(hn::DFromV<V>(), kImprecise));
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
