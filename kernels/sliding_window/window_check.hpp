// Argument checks of all implementations, and how windows are joined from smaller ones; private to this
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

/// Throws InvalidArgument unless the arguments are as window.hpp requires.
void check_window(const Window& window, const ConstRegion& in, const Region& out);
/// Throws InvalidArgument if the border mode is wrap and windows reach beyond the image.
void check_wrapped(const Window& window, const Border& border, const Region& out);

/// Throws InvalidArgument unless the arguments are as standard_deviation.hpp requires.
void check_moments(const WindowMoments& moments, const PixelView& out);
/// The minimum deviation if contrasts are computed, else nullopt.
inline std::optional<double> min_of(const WindowMoments& moments) {
  return moments.pixels.data != nullptr ? std::optional(moments.least) : std::nullopt;
}

/// The window, with the radii of a minimum or maximum over a box clamped to the image's size: larger radii
/// give the same result. The order of its passes does not change the bits, so rows come first.
Window clamp_radii(Window window, Extent image);

/// Whether a device computes rows and columns in one pass without scratch: the rows that a warp reuses and
/// the halo of its columns fit.
bool fits_strips(const Window& window, std::int64_t channels, Arithmetic arithmetic);

/// Whether the border's value, in the arithmetic type A, is representable as a pixel of type T (or `type`).
template <class T, class A>
bool is_pixel(const Border& border) {
  const A value = static_cast<A>(border.value);
  return border.mode != BorderMode::constant || static_cast<A>(to_pixel<T>(value)) == value;
}
template <class A>
bool is_representable_as(const Border& border, PixelType type) {
  return visit_pixel_type(type, [&]<class T>(std::type_identity<T>) { return is_pixel<T, A>(border); });
}

/// Maximum |sum| over a window of pixels of this type; infinite for floating types.
double max_sum(const Window& window, PixelType type);

/// Whether all sums are whole numbers that A can represent, so that their order does not matter, and the
/// window has more than one row.
template <class A>
bool sums_are_exact(const Window& window, const Border& border, PixelType type) {
  return window.radius_y > 0 && is_representable_as<A>(border, type) &&
         max_sum(window, type) <= std::ldexp(1.0, std::numeric_limits<A>::digits);
}

/// Whether pixels are bytes, sums fit int32_t, and sums of values along rows fit uint16_t.
bool fit_integers(const Window& window, PixelType type);

/// A window of `count` neighbours, joined from windows of 1, 2, 4, ... 2^levels of them.
struct WindowSteps {
  explicit WindowSteps(std::int64_t neighbours)
      : count(neighbours), levels(std::bit_width(static_cast<std::uint64_t>(neighbours)) - 1) {}

  std::int64_t count;
  int levels;

  /// Neighbours that the largest window does not cover.
  std::int64_t rest() const noexcept { return count - (std::int64_t{1} << levels); }
  /// For a sum: whether the window of 2^level is part of it, and how many neighbours follow it.
  bool has(int level) const noexcept { return (count >> level & 1) != 0; }
  std::int64_t after(int level) const noexcept { return count & ((std::int64_t{1} << level) - 1); }
};

}  // namespace sepconv
