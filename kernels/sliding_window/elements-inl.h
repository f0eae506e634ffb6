// The elements that windows are joined from: integers in the order of the pixels' values, so that one
// instruction computes their minimum. Included once per target.
#if defined(SEPCONV_WINDOW_ELEMENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_ELEMENTS_INL_H
#undef SEPCONV_WINDOW_ELEMENTS_INL_H
#else
#define SEPCONV_WINDOW_ELEMENTS_INL_H
#endif

#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/sliding_window/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Writes transform(vector) of a row's elements, with aligned stores and optionally past the caches.
template <class E, class Transform>
HWY_INLINE void write_row(const E* from, std::int64_t count, E* to, bool past_caches,
                          const Transform& transform) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // The first elements of a vector.
  const auto write_part = [&](std::int64_t first, std::int64_t part_count) {
    alignas(64) E part[hn::MaxLanes(d)];
    hn::Store(transform(hn::LoadU(d, from + first)), d, part);
    std::copy_n(part, part_count, to + first);
  };
  const auto misaligned =
      reinterpret_cast<std::uintptr_t>(to) % (static_cast<std::size_t>(lanes) * sizeof(E));
  std::int64_t i =
      misaligned == 0 ? 0 : std::min(count, lanes - static_cast<std::int64_t>(misaligned / sizeof(E)));
  if (i > 0) write_part(0, i);
  if (past_caches) {
    for (; i + lanes <= count; i += lanes) hn::Stream(transform(hn::LoadU(d, from + i)), d, to + i);
  } else {
    for (; i + lanes <= count; i += lanes) hn::Store(transform(hn::LoadU(d, from + i)), d, to + i);
  }
  if (i < count) write_part(i, count - i);
}

/// Element classes convert a row of pixels to elements with load(), or with fetch() and then element() for
/// each vector. fetch() is not needed if reads_pixels(). constant() and pixel() convert a border's constant
/// likewise.

/// Integer pixels unchanged; for the maximum their complements, whose minimum is the complement of it.
template <class T, class A>
class IntegerElements {
 public:
  using Element = T;
  using Join = Minimum;
  static constexpr int kElementsPerSample = 1;

  IntegerElements(const Window& window, PixelType, PixelType to)
      : inverts_(window.op == Window::Op::maximum),
        stores_directly_(to == pixel_type_of<T>()),
        load_(load_row_for<A>(pixel_type_of<T>())),
        store_(store_row_for<A>(to)) {}

  Element constant(double value) const { return inverted(pixel(value)); }
  Element pixel(double value) const { return static_cast<T>(static_cast<A>(value)); }
  static constexpr bool reads_pixels() { return true; }
  void fetch(const std::byte* from, std::int64_t count, Element* to) const {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> element(D d, hn::Vec<D> v) const {
    return hn::Xor(v, hn::Set(d, static_cast<T>(inverts_ ? -1 : 0)));
  }
  void load(const std::byte* from, std::int64_t count, Element* to) const {
    fetch(from, count, to);
    if (inverts_) invert(to, count);
  }
  bool stores_directly() const { return stores_directly_; }
  template <class D>
  HWY_INLINE hn::Vec<D> pixel(D d, hn::Vec<D> v) const {
    return element(d, v);
  }
  /// Destroys `row`; `scratch` has space for `count` values of the arithmetic type.
  void store(Element* row, std::int64_t count, A* scratch, std::byte* to, bool past_caches) const {
    const hn::ScalableTag<T> d;
    const auto value = [&](auto v) { return pixel(d, v); };
    if (stores_directly_) return write_row(row, count, reinterpret_cast<T*>(to), past_caches, value);
    if (inverts_) invert(row, count);
    load_(reinterpret_cast<const std::byte*>(row), count, scratch);
    store_(scratch, count, to);
  }

 private:
  Element inverted(T value) const { return static_cast<T>(inverts_ ? ~value : value); }
  void invert(Element* row, std::int64_t count) const {
    const hn::ScalableTag<T> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(hn::Not(hn::LoadU(d, row + i)), d, row + i);
  }

  bool inverts_, stores_directly_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

/// Values of the arithmetic type as signed integers in the same order, -0 below +0: negative values have all
/// bits but the sign inverted. NaN is the minimum of all or, if ignored, the maximum; both decode to NaN.
template <class A>
class RankedElements {
 public:
  using Element = std::conditional_t<sizeof(A) == 4, std::int32_t, std::int64_t>;
  using Join = Minimum;
  static constexpr int kElementsPerSample = 1;

  RankedElements(const Window& window, PixelType from, PixelType to)
      : inversion_(window.op == Window::Op::maximum ? Element(-1) : Element(0)),
        nan_(window.ignores_nan ? std::numeric_limits<Element>::max() : std::numeric_limits<Element>::min()),
        reads_directly_(from == pixel_type_of<A>()),
        stores_directly_(to == pixel_type_of<A>()),
        load_(load_row_for<A>(from)),
        store_(store_row_for<A>(to)) {}

  Element constant(double value) const {
    alignas(64) A row[hn::MaxLanes(hn::ScalableTag<A>())] = {static_cast<A>(value)};
    Element* const elements = reinterpret_cast<Element*>(row);
    order(elements, 1, elements);
    return elements[0];
  }
  Element pixel(double value) const {
    const A pixel = static_cast<A>(value);
    Element bits;
    std::memcpy(&bits, &pixel, sizeof(bits));
    return bits;
  }
  bool reads_pixels() const { return reads_directly_; }
  void fetch(const std::byte* from, std::int64_t count, Element* to) const {
    load_(from, count, reinterpret_cast<A*>(to));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> element(D d, hn::Vec<D> bits) const {
    const hn::Rebind<A, D> values;
    const auto nan = hn::RebindMask(d, hn::IsNaN(hn::BitCast(values, bits)));
    return hn::IfThenElse(nan, hn::Set(d, nan_), hn::Xor(ordered_bits(d, bits), hn::Set(d, inversion_)));
  }
  void load(const std::byte* from, std::int64_t count, Element* to) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<Element>()));
    const std::int64_t whole = reads_directly_ ? count / lanes * lanes : 0;
    order(reinterpret_cast<const Element*>(from), whole, to);
    if (whole == count) return;
    load_(from + whole * static_cast<std::int64_t>(sizeof(A)) * reads_directly_, count - whole,
          reinterpret_cast<A*>(to + whole));
    order(to + whole, count - whole, to + whole);
  }
  bool stores_directly() const { return stores_directly_; }
  template <class D>
  HWY_INLINE hn::Vec<D> pixel(D d, hn::Vec<D> v) const {
    return ordered_bits(d, hn::Xor(v, hn::Set(d, inversion_)));
  }
  void store(Element* row, std::int64_t count, A* scratch, std::byte* to, bool past_caches) const {
    const hn::ScalableTag<Element> d;
    const auto value = [&](auto v) { return pixel(d, v); };
    if (stores_directly_) return write_row(row, count, reinterpret_cast<Element*>(to), past_caches, value);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(value(hn::LoadU(d, row + i)), d, reinterpret_cast<Element*>(scratch) + i);
    store_(scratch, count, to);
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> ordered_bits(D d, hn::Vec<D> bits) {
    return hn::Xor(bits,
                   hn::And(hn::BroadcastSignBit(bits), hn::Set(d, std::numeric_limits<Element>::max())));
  }
  /// Converts whole vectors.
  void order(const Element* row, std::int64_t count, Element* to) const {
    const hn::ScalableTag<Element> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(element(d, hn::LoadU(d, row + i)), d, to + i);
  }

  Element inversion_, nan_;
  bool reads_directly_, stores_directly_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
