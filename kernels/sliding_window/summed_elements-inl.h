// Summands of the arithmetic type. Included once per target.
#if defined(SEPCONV_WINDOW_SUMMED_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_SUMMED_ELEMENTS_INL_H
#undef SEPCONV_WINDOW_SUMMED_ELEMENTS_INL_H
#else
#define SEPCONV_WINDOW_SUMMED_ELEMENTS_INL_H
#endif

#include <cstdint>

#include "kernels/sliding_window/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Values, squares or ones that are summed, and divided at the end.
template <class A>
class SummedElements {
 public:
  using Element = A;
  using Join = Sum;
  static constexpr int kElementsPerSample = 1;

  SummedElements(const Window& window, PixelType from, PixelType to)
      : summands_(window.of),
        ignores_nan_(window.ignores_nan),
        unit_(static_cast<A>(window.unit)),
        divisor_(static_cast<A>(window.divisor)),
        reads_directly_(from == pixel_type_of<A>()),
        stores_directly_(to == pixel_type_of<A>()),
        load_(load_row_for<A>(from)),
        store_(store_row_for<A>(to)) {}

  Element constant(double value) const {
    alignas(64) A row[hn::MaxLanes(hn::ScalableTag<A>())] = {static_cast<A>(value)};
    to_summands(row, 1, row);
    return row[0];
  }
  void load(const std::byte* from, std::int64_t count, Element* to) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<A>()));
    const std::int64_t whole = reads_directly_ ? count / lanes * lanes : 0;
    to_summands(reinterpret_cast<const A*>(from), whole, to);
    if (whole == count) return;
    load_(from + whole * static_cast<std::int64_t>(sizeof(A)) * reads_directly_, count - whole, to + whole);
    to_summands(to + whole, count - whole, to + whole);
  }
  void store(Element* row, std::int64_t count, A* scratch, std::byte* to, bool past_caches) const {
    const hn::ScalableTag<A> d;
    const auto value = [&](auto v) { return hn::Div(v, hn::Set(d, divisor_)); };
    if (stores_directly_) return write_row(row, count, reinterpret_cast<A*>(to), past_caches, value);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(value(hn::LoadU(d, row + i)), d, scratch + i);
    store_(scratch, count, to);
  }

 private:
  /// Converts pixels to summands; whole vectors.
  void to_summands(const A* row, std::int64_t count, A* to) const {
    const hn::ScalableTag<A> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto unit = hn::Set(d, unit_);
    if (summands_ == Window::Of::values && !ignores_nan_) {
      if (unit_ == 1 && row == to) return;
      for (std::int64_t i = 0; i < count; i += lanes)
        hn::StoreU(hn::Mul(hn::LoadU(d, row + i), unit), d, to + i);
      return;
    }
    for (std::int64_t i = 0; i < count; i += lanes) {
      const auto x = hn::LoadU(d, row + i);
      const auto summand = summands_ == Window::Of::values    ? hn::Mul(x, unit)
                           : summands_ == Window::Of::squares ? hn::Mul(x, x)
                                                              : unit;
      hn::StoreU(ignores_nan_ ? hn::IfThenZeroElse(hn::IsNaN(x), summand) : summand, d, to + i);
    }
  }

  Window::Of summands_;
  bool ignores_nan_;
  A unit_, divisor_;
  bool reads_directly_, stores_directly_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
