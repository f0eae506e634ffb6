// Elements, sources and destinations of windows on a device. Private to this folder.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/pointwise/device_op.cuh"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv::engine {

/// Device counterparts of IntegerElements, RankedElements and SummedElements. A `Word` is the operand of one
/// instruction: kPack elements.
///
/// Pixels of 8 and 16 bits as unsigned 16-bit integers in the same order, two per word.
struct Packed16 {
  using Element = std::uint16_t;
  using Word = unsigned;
  using Value = float;
  static constexpr int kPack = 2;
  static constexpr bool kSums = false;
  unsigned flip;  ///< bits inverted in an element: all for the maximum, and the sign for i16
  PixelType type;
  Packed16(const Window& window, PixelType from)
      : flip((window.op == Window::Op::maximum ? 0xffffu : 0u) ^ (from == PixelType::i16 ? 0x8000u : 0u)),
        type(from) {}
  template <class From>
  __device__ __forceinline__ Element encode(From x) const {
    if constexpr (std::is_floating_point_v<From>)  // a border's value, representable as a pixel
      return static_cast<Element>(static_cast<int>(x) ^ flip);
    else
      return static_cast<Element>(x ^ flip);
  }
  __device__ __forceinline__ unsigned word_flip() const { return flip * 0x10001u; }  ///< flip for a word
  __device__ __forceinline__ int pixel(Element e) const {
    const unsigned bits = (e ^ flip) & 0xffffu;
    return type == PixelType::i16 ? static_cast<std::int16_t>(bits) : static_cast<int>(bits);
  }
  __device__ __forceinline__ Value value(Element e) const { return static_cast<float>(pixel(e)); }
  static __device__ __forceinline__ Word join(Word a, Word b) { return __vminu2(a, b); }
};

template <class A>
struct OrderedBits {
  using Element = std::conditional_t<sizeof(A) == 4, int, long long>;
  using Word = Element;
  using Value = A;
  static constexpr int kPack = 1;
  static constexpr bool kSums = false;
  Element flip, nan;
  OrderedBits(const Window& window, PixelType)
      : flip(window.op == Window::Op::maximum ? Element(-1) : Element(0)),
        nan(window.ignores_nan ? std::numeric_limits<Element>::max() : std::numeric_limits<Element>::min()) {}
  static __device__ __forceinline__ Element ordered_bits(Element bits, Element mask) {
    return bits ^ ((bits >> (8 * sizeof(Element) - 1)) & mask);
  }
  static __device__ __forceinline__ Element bits_of(float x) { return __float_as_int(x); }
  static __device__ __forceinline__ Element bits_of(double x) { return __double_as_longlong(x); }
  static constexpr Element kMax = std::numeric_limits<Element>::max();
  template <class From>
  __device__ __forceinline__ Element encode(From from) const {
    const A x = static_cast<A>(from);
    return x != x ? nan : ordered_bits(bits_of(x), kMax) ^ flip;
  }
  __device__ __forceinline__ Value value(Element e) const {
    const Element bits = ordered_bits(e ^ flip, kMax);
    if constexpr (sizeof(A) == 4)
      return __int_as_float(bits);
    else
      return __longlong_as_double(bits);
  }
  static __device__ __forceinline__ Word join(Word a, Word b) { return a < b ? a : b; }
};

template <class A>
struct Summed {
  using Element = A;
  using Word = A;
  using Value = A;
  static constexpr int kPack = 1;
  static constexpr bool kSums = true;
  A unit, divisor;
  Window::Of summand;
  bool ignores_nan;
  Summed(const Window& window, PixelType)
      : unit(static_cast<A>(window.unit)),
        divisor(static_cast<A>(window.divisor)),
        summand(window.of),
        ignores_nan(window.ignores_nan) {}
  template <class From>
  __host__ __device__ __forceinline__ Element encode(From from) const {
    const A x = static_cast<A>(from);
    if (ignores_nan && x != x) return 0;
    return summand == Window::Of::values ? x * unit : summand == Window::Of::squares ? x * x : unit;
  }
  /// For sums of sums.
  void use_plain_values() { unit = 1, summand = Window::Of::values, ignores_nan = false; }
  __device__ __forceinline__ Value value(Element e) const { return e / divisor; }
  static __device__ __forceinline__ Word join(Word a, Word b) { return a + b; }
};

/// Elements between the passes. Rows are aligned for any vector.
template <class E>
struct Plane {
  E* data = nullptr;
  std::int64_t pitch = 0;
};

/// Input of a pass: pixels, or the plane that the first pass computed.
template <class P>
struct Source {
  device::Rows pixels;
  Plane<typename P::Element> plane;
  Rect rect;
  Extent image;
  BorderMode border;
  int channels;
  typename P::Value constant;  ///< of a constant border: a pixel, or its sum after the first pass

  __device__ __forceinline__ typename P::Element constant_of(const P& policy) const {
    if constexpr (P::kSums)
      return constant;
    else
      return policy.encode(constant);
  }
};

/// Output of a pass: a plane, or the result.
template <class P>
struct Target {
  Plane<typename P::Element> plane;
  device::Store<typename P::Value> store;
};

struct Steps {
  int count, levels;
  explicit Steps(const WindowSteps& steps) : count(static_cast<int>(steps.count)), levels(steps.levels) {}
  __host__ __device__ __forceinline__ int rest() const { return count - (1 << levels); }
  __device__ __forceinline__ bool has(int k) const { return (count >> k & 1) != 0; }
  __device__ __forceinline__ int after(int k) const { return count & ((1 << k) - 1); }
};

/// border_index() without divisions for indices within one image size of the edge.
__device__ __forceinline__ std::int64_t near_border_index(std::int64_t index, std::int64_t size,
                                                          BorderMode mode) {
  if (index >= 0 && index < size) return index;
  if (mode == BorderMode::reflect || mode == BorderMode::reflect101) {
    const std::int64_t edge = mode == BorderMode::reflect ? 1 : 0;
    const std::int64_t mirrored = index < 0 ? -edge - index : 2 * (size - 1) + edge - index;
    if (mirrored >= 0 && mirrored < size) return mirrored;
  }
  return border_index(index, size, mode);
}

}  // namespace sepconv::engine
