// What all implementations ask of their arguments, and how windows are made of smaller ones; private to this
// folder.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "kernels/simd/rows.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window.hpp"

namespace sepconv {

/// Throws InvalidArgument unless the arguments are as window.hpp says.
void check_window(const Window& window, const ConstRegion& in, const Region& out);
/// Throws InvalidArgument if the border is a wrapped one and is reached.
void check_wrapped(const Window& window, const Border& border, const Region& out);

/// Throws InvalidArgument unless the arguments are as standard_deviation.hpp says.
void check_moments(const WindowMoments& moments, const PixelView& out);
/// The least deviation, if they are to be of pixels.
inline std::optional<double> min_of(const WindowMoments& moments) {
  return moments.pixels.data != nullptr ? std::optional(moments.least) : std::nullopt;
}

/// The same window, and a box of a least or greatest no larger than it needs to be: it is that of the whole
/// side and what lies beyond it as soon as the window reaches over both edges of the image from everywhere.
/// In its bits the order of passes does not show either: rows first.
Window within(Window window, Extent image);

/// Whether a device makes windows along rows and columns in one pass, which needs no scratch: a warp has room
/// for the rows that it reads again, and for the pixels next to its columns.
bool fits_strips(const Window& window, std::int64_t channels, Arithmetic arithmetic);

/// Whether values of the border, in the arithmetic type A, are pixels of the type T, or of `type`, like
/// others.
template <class T, class A>
bool is_pixel(const Border& border) {
  const A value = static_cast<A>(border.value);
  return border.mode != BorderMode::constant || static_cast<A>(to_pixel<T>(value)) == value;
}
template <class A>
bool are_pixels(const Border& border, PixelType type) {
  return visit_pixel_type(type, [&]<class T>(std::type_identity<T>) { return is_pixel<T, A>(border); });
}

/// The greatest sum that pixels of this type make, or the negative of the smallest; infinite where it is of no
/// use here.
double greatest_sum(const Window& window, PixelType type);

/// Whether all sums are whole numbers that A has, so that their order does not show; with something down the
/// columns to be summed.
template <class A>
bool sums_are_exact(const Window& window, const Border& border, PixelType type) {
  return window.radius_y > 0 && are_pixels<A>(border, type) &&
         greatest_sum(window, type) <= std::ldexp(1.0, std::numeric_limits<A>::digits);
}

/// Whether such sums are of bytes and fit int32_t, and those of values along rows uint16_t.
bool fit_integers(const Window& window, PixelType type);

/// A window of `count` neighbours, made of windows of 1, 2, 4, .. 2^levels of them.
struct WindowSteps {
  explicit WindowSteps(std::int64_t neighbours)
      : count(neighbours), levels(std::bit_width(static_cast<std::uint64_t>(neighbours)) - 1) {}

  std::int64_t count;
  int levels;

  /// What is left of it next to the largest.
  std::int64_t rest() const noexcept { return count - (std::int64_t{1} << levels); }
  /// For a sum: whether the window of 2^level is part of it, and how many neighbours follow it.
  bool has(int level) const noexcept { return (count >> level & 1) != 0; }
  std::int64_t after(int level) const noexcept { return count & ((std::int64_t{1} << level) - 1); }
};

}  // namespace sepconv
