// Integer sums of bytes or of their squares. Included once per target.
#if defined(SEPCONV_WINDOW_INTEGER_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_INTEGER_SUMS_INL_H
#undef SEPCONV_WINDOW_INTEGER_SUMS_INL_H
#else
#define SEPCONV_WINDOW_INTEGER_SUMS_INL_H
#endif

#include <cstdint>
#include <type_traits>

#include "kernels/sliding_window/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Elements along rows are of type E: uint16_t for values, int32_t for squares. Sums down columns are int32_t
/// and exact in the arithmetic type A. Needs sums_are_exact() and fit_integers().
template <class E, class A>
class ByteSums {
 public:
  using Element = E;
  using Join = Sum;
  static constexpr int kElementsPerSample = 1;
  static constexpr bool kSquares = std::is_same_v<E, std::int32_t>;

  ByteSums(const Window& window, PixelType, PixelType to)
      // The sum is divided by divisor / unit; the unit is a power of two and changes no bit.
      : divisor_(static_cast<A>(kSquares ? window.divisor : window.divisor / window.unit)),
        stores_directly_(to == pixel_type_of<A>()),
        store_(store_row_for<A>(to)) {}

  Element constant(double value) const { return summand(static_cast<std::uint8_t>(static_cast<A>(value))); }
  void load(const std::byte* from, std::int64_t count, Element* to) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
    const hn::ScalableTag<E> d;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto x = hn::PromoteTo(d, hn::LoadU(d8, bytes + i));
      if constexpr (kSquares) hn::StoreU(hn::Mul(x, x), d, to + i);
      if constexpr (!kSquares) hn::StoreU(x, d, to + i);
    }
    for (; i < count; ++i) to[i] = summand(bytes[i]);
  }
  void store(const std::int32_t* sums, std::int64_t count, A* scratch, std::byte* to,
             bool past_caches) const {
    const hn::ScalableTag<A> d;
    const hn::Rebind<std::int32_t, decltype(d)> d32;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(hn::Div(as_arithmetic(d, hn::LoadU(d32, sums + i)), hn::Set(d, divisor_)), d, scratch + i);
    const auto same = [](auto v) { return v; };
    if (stores_directly_) return write_row(scratch, count, reinterpret_cast<A*>(to), past_caches, same);
    store_(scratch, count, to);
  }

 private:
  static Element summand(std::uint8_t value) {
    return static_cast<Element>(kSquares ? value * value : value);
  }
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> as_arithmetic(D d, V integers) {
    if constexpr (sizeof(A) == 4) return hn::ConvertTo(d, integers);
    if constexpr (sizeof(A) == 8) return hn::PromoteTo(d, integers);
  }

  A divisor_;
  bool stores_directly_;
  StoreRow<A> store_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
