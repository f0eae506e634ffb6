#include "sepconv/kernels/pointwise/missing.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace sepconv {
namespace {

/// Compared without a branch so many at a time, so that the compiler uses vectors.
constexpr std::int64_t kBlock = 256;

/// An element's width, so that as many are compared at once as are loaded.
template <class T>
using Mask =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

struct Seen {
  bool missing = false;
  bool there = false;
  bool both() const noexcept { return missing && there; }
};

template <class T>
Mask<T> is_missing(T value, T missing) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<Mask<T>>(static_cast<int>(value == missing) | static_cast<int>(value != value));
  return value == missing;
}

template <class T>
void look(const T* values, std::int64_t count, T missing, Seen& seen) {
  std::int64_t i = 0;
  for (; i + kBlock <= count && !seen.both(); i += kBlock) {
    Mask<T> any = 0, all = 1;
    for (std::int64_t k = 0; k < kBlock; ++k) {
      const Mask<T> one = is_missing(values[i + k], missing);
      any |= one;
      all &= one;
    }
    seen.missing = seen.missing || any != 0;
    seen.there = seen.there || all == 0;
  }
  for (; i < count && !seen.both(); ++i) {
    const bool one = is_missing(values[i], missing) != 0;
    seen.missing = seen.missing || one;
    seen.there = seen.there || !one;
  }
}

template <class T>
Seen look(const ConstPixelView& pixels, T missing) {
  Seen seen;
  for (std::int64_t row = 0; row < pixels.extent.rows && !seen.both(); ++row)
    look(pixels.row<T>(row), pixels.row_elements(), missing, seen);
  return seen;
}

template <class T>
bool can_hold(double value) {
  return value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
         value <= static_cast<double>(std::numeric_limits<T>::max()) &&
         static_cast<double>(static_cast<T>(value)) == value;
}

}  // namespace

Presence presence_of(const ConstPixelView& pixels, double missing) {
  return visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      if (!can_hold<T>(missing)) return Presence::all_there;
    }
    const Seen seen = look(pixels, static_cast<T>(missing));
    return !seen.missing ? Presence::all_there : seen.there ? Presence::some_missing : Presence::all_missing;
  });
}

void fill_pixels(const PixelView& pixels, double value) {
  visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < pixels.extent.rows; ++row)
      std::fill_n(pixels.row<T>(row), pixels.row_elements(), static_cast<T>(value));
  });
}

}  // namespace sepconv
