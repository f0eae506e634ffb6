// Conversion between the pixel types and the arithmetic types: of one element (the definition) and of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/pixel_type.hpp"

namespace sepconv {

/// The value of a pixel's element in the arithmetic type A: exact, except that an f64 element is rounded to
/// f32 arithmetic.
template <class A, class T>
A to_arithmetic(T element) noexcept {
  return static_cast<A>(element);
}

/// `value` as an element of type T: integers round half to even and saturate, NaN becomes 0; f64 to f32
/// rounds.
template <class T, class A>
T to_pixel(A value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    constexpr A lowest = std::numeric_limits<T>::lowest();
    constexpr A highest = std::numeric_limits<T>::max();
    return static_cast<T>(std::nearbyint(std::clamp(value, lowest, highest)));
  }
}

/// Converts `count` elements to the arithmetic type A (float or double). The rows must not overlap.
template <class A>
using LoadRow = void (*)(const std::byte* from, std::int64_t count, A* to);
/// Converts `count` elements of the arithmetic type A to pixels. The rows must not overlap.
template <class A>
using StoreRow = void (*)(const A* from, std::int64_t count, std::byte* to);

/// The conversion for a pixel type on this processor; look it up once, outside all loops. Data must be
/// aligned to the element only. A is float or double.
template <class A>
LoadRow<A> load_row_for(PixelType from);
template <class A>
StoreRow<A> store_row_for(PixelType to);

}  // namespace sepconv
