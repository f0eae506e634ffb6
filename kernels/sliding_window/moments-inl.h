// Pixels and their squares, interleaved, so that both are summed together. Included once per target.
#if defined(SEPCONV_WINDOW_MOMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_MOMENTS_INL_H
#undef SEPCONV_WINDOW_MOMENTS_INL_H
#else
#define SEPCONV_WINDOW_MOMENTS_INL_H
#endif

#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/sliding_window/deviation-inl.h"
#include "kernels/sliding_window/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// E is double, or int32_t for bytes whose sums fit it. Stores the deviation or, if `min_deviation` is given,
/// the contrast, or kUntold.
template <class E>
class MomentElements {
 public:
  using Element = E;
  using Join = Sum;
  static constexpr int kElementsPerSample = 2;

  /// `is_exact`: the sums are exact.
  MomentElements(const Window& window, std::optional<double> min_deviation, bool is_exact, PixelType from,
                 PixelType to)
      : count_(window_ones_sum(window, Arithmetic::f64)),
        min_deviation_(min_deviation),
        is_exact_(is_exact),
        load_(load_row_for<double>(from)),
        store_(store_row_for<double>(to)) {}

  /// A constant border is always 0 (supports_window_deviation).
  static Element constant(double) { return 0; }

  void load(const std::byte* from, std::int64_t count, Element* to) const {
    const hn::ScalableTag<E> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if constexpr (std::is_same_v<E, double>) load_(from, count, to);
    const auto element = [&](std::int64_t i) -> E {
      if constexpr (std::is_same_v<E, double>) return to[i];
      return static_cast<E>(reinterpret_cast<const std::uint8_t*>(from)[i]);
    };
    const auto vector = [&](std::int64_t i) {
      if constexpr (std::is_same_v<E, double>) {
        return hn::LoadU(d, to + i);
      } else {
        const hn::Rebind<std::uint8_t, decltype(d)> d8;
        return hn::PromoteTo(d, hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(from) + i));
      }
    };
    // From the end, because pairs may overwrite their own source.
    std::int64_t i = count;
    while (i % lanes != 0) {
      const E x = element(--i);
      to[2 * i] = x, to[2 * i + 1] = x * x;
    }
    while ((i -= lanes) >= 0) {
      const auto x = vector(i);
      hn::StoreInterleaved2(x, hn::Mul(x, x), d, to + 2 * i);
    }
  }

  /// `pixels` are the centres of the windows; `scratch` has space for `count` values.
  void store(const E* sums, const std::byte* pixels, std::int64_t count, double* scratch,
             std::byte* to) const {
    const hn::ScalableTag<double> d;
    const hn::Rebind<E, decltype(d)> d_sum;
    const auto wide = [&](auto sum) {
      if constexpr (std::is_same_v<E, double>) return sum;
      if constexpr (!std::is_same_v<E, double>) return hn::PromoteTo(d, sum);
    };
    if (min_deviation_) load_(pixels, count, scratch);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::Vec<decltype(d_sum)> values, squares;
      hn::LoadInterleaved2(d_sum, sums + 2 * i, values, squares);
      const SpreadVectors<hn::Vec<decltype(d)>> window{hn::Set(d, count_), wide(values), wide(squares),
                                                       hn::Zero(d)};
      hn::StoreU(precise_or_marked(window, is_exact_, scratch + i, min_deviation_), d, scratch + i);
    }
    store_(scratch, count, to);
  }

 private:
  double count_;
  std::optional<double> min_deviation_;
  bool is_exact_;
  LoadRow<double> load_;
  StoreRow<double> store_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
