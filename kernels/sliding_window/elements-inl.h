// The elements that windows are joined of: integers whose order is that of the pixels' values, of which one
// instruction takes the lesser, or values to be added. Included once per target.
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

/// Writes elements as `made` has them of vectors to a row that begins where a vector does not mind, past the
/// caches if that is asked for.
template <class E, class ManifestFields>
HWY_INLINE void write_row(const E* from, std::int64_t count, E* to, bool past_caches,
                          const ManifestFields& made) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // For a vector's elements those that come first.
  const auto write_some = [&](std::int64_t first, std::int64_t some) {
    alignas(64) E part[hn::MaxLanes(d)];
    hn::Store(made(hn::LoadU(d, from + first)), d, part);
    std::copy_n(part, some, to + first);
  };
  const auto misaligned =
      reinterpret_cast<std::uintptr_t>(to) % (static_cast<std::size_t>(lanes) * sizeof(E));
  std::int64_t i =
      misaligned == 0 ? 0 : std::min(count, lanes - static_cast<std::int64_t>(misaligned / sizeof(E)));
  if (i > 0) write_some(0, i);
  if (past_caches) {
    for (; i + lanes <= count; i += lanes) hn::Stream(made(hn::LoadU(d, from + i)), d, to + i);
  } else {
    for (; i + lanes <= count; i += lanes) hn::Store(made(hn::LoadU(d, from + i)), d, to + i);
  }
  if (i < count) write_some(i, count - i);
}

/// Elements are made of a row of pixels by load(), or by fetch(), which is of no use where reads_pixels(),
/// and then element(), vector by vector. What a border's constant is then they say, too: constant() and
/// pixel().

/// Pixels of an integer type as they are; of the largest their complements, whose least is that of it.
template <class T, class A>
class IntegerElements {
 public:
  using Element = T;
  using Join = Least;
  static constexpr int kOfEach = 1;

  IntegerElements(const Window& window, PixelType, PixelType to)
      : flips_(window.op == Window::Op::maximum),
        copies_(to == pixel_type_of<T>()),
        load_(load_row_for<A>(pixel_type_of<T>())),
        store_(store_row_for<A>(to)) {}

  Element constant(double value) const { return flipped(pixel(value)); }
  Element pixel(double value) const { return static_cast<T>(static_cast<A>(value)); }
  static constexpr bool reads_pixels() { return true; }
  void fetch(const std::byte* from, std::int64_t count, Element* to) const {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> element(D d, hn::Vec<D> v) const {
    return hn::Xor(v, hn::Set(d, static_cast<T>(flips_ ? -1 : 0)));
  }
  void load(const std::byte* from, std::int64_t count, Element* to) const {
    fetch(from, count, to);
    if (flips_) flip(to, count);
  }
  bool makes_pixels() const { return copies_; }
  template <class D>
  HWY_INLINE hn::Vec<D> pixel(D d, hn::Vec<D> v) const {
    return element(d, v);
  }
  /// Destroys `row`; `room` is for as many values of the arithmetic type.
  void store(Element* row, std::int64_t count, A* room, std::byte* to, bool past_caches) const {
    const hn::ScalableTag<T> d;
    const auto value = [&](auto v) { return pixel(d, v); };
    if (copies_) return write_row(row, count, reinterpret_cast<T*>(to), past_caches, value);
    if (flips_) flip(row, count);
    load_(reinterpret_cast<const std::byte*>(row), count, room);
    store_(room, count, to);
  }

 private:
  Element flipped(T value) const { return static_cast<T>(flips_ ? ~value : value); }
  void flip(Element* row, std::int64_t count) const {
    const hn::ScalableTag<T> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(hn::Not(hn::LoadU(d, row + i)), d, row + i);
  }

  bool flips_, copies_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

/// Values of the arithmetic type as signed integers in their order, -0 below +0: negative ones have all bits
/// but the sign turned. NaN is the least of all, or the largest where it counts for nothing; both are NaN
/// when they are turned back.
template <class A>
class RankedElements {
 public:
  using Element = std::conditional_t<sizeof(A) == 4, std::int32_t, std::int64_t>;
  using Join = Least;
  static constexpr int kOfEach = 1;

  RankedElements(const Window& window, PixelType from, PixelType to)
      : flip_(window.op == Window::Op::maximum ? Element(-1) : Element(0)),
        nan_(window.ignores_nan ? std::numeric_limits<Element>::max() : std::numeric_limits<Element>::min()),
        takes_(from == pixel_type_of<A>()),
        copies_(to == pixel_type_of<A>()),
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
  bool reads_pixels() const { return takes_; }
  void fetch(const std::byte* from, std::int64_t count, Element* to) const {
    load_(from, count, reinterpret_cast<A*>(to));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> element(D d, hn::Vec<D> bits) const {
    const hn::Rebind<A, D> values;
    const auto nan = hn::RebindMask(d, hn::IsNaN(hn::BitCast(values, bits)));
    return hn::IfThenElse(nan, hn::Set(d, nan_), hn::Xor(turned(d, bits), hn::Set(d, flip_)));
  }
  void load(const std::byte* from, std::int64_t count, Element* to) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<Element>()));
    const std::int64_t whole = takes_ ? count / lanes * lanes : 0;
    order(reinterpret_cast<const Element*>(from), whole, to);
    if (whole == count) return;
    load_(from + whole * static_cast<std::int64_t>(sizeof(A)) * takes_, count - whole,
          reinterpret_cast<A*>(to + whole));
    order(to + whole, count - whole, to + whole);
  }
  bool makes_pixels() const { return copies_; }
  template <class D>
  HWY_INLINE hn::Vec<D> pixel(D d, hn::Vec<D> v) const {
    return turned(d, hn::Xor(v, hn::Set(d, flip_)));
  }
  void store(Element* row, std::int64_t count, A* room, std::byte* to, bool past_caches) const {
    const hn::ScalableTag<Element> d;
    const auto value = [&](auto v) { return pixel(d, v); };
    if (copies_) return write_row(row, count, reinterpret_cast<Element*>(to), past_caches, value);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(value(hn::LoadU(d, row + i)), d, reinterpret_cast<Element*>(room) + i);
    store_(room, count, to);
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> turned(D d, hn::Vec<D> bits) {
    return hn::Xor(bits,
                   hn::And(hn::BroadcastSignBit(bits), hn::Set(d, std::numeric_limits<Element>::max())));
  }
  /// Whole vectors.
  void order(const Element* row, std::int64_t count, Element* to) const {
    const hn::ScalableTag<Element> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d)))
      hn::StoreU(element(d, hn::LoadU(d, row + i)), d, to + i);
  }

  Element flip_, nan_;
  bool takes_, copies_;
  LoadRow<A> load_;
  StoreRow<A> store_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
