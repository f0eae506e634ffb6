// Means of integers whose sums are exact: division of a sum, and scratch sizes; private to this folder.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/memory.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {

/// sum / divisor, rounded once, without a division: the product with the reciprocal is corrected by the
/// remainder. Valid for whole divisors below 2^16 and whole sums below 2^24.
struct WholeQuotient {
  explicit WholeQuotient(float by) : divisor(by), reciprocal(1 / by) {}
  float of(float sum) const {
    const float quotient = sum * reciprocal;
    return std::fma(std::fma(-quotient, divisor, sum), reciprocal, quotient);
  }

  float divisor, reciprocal;
};

/// Sum of bytes / odd number of pixels, rounded to the nearest byte, in 16 bits: a multiplication and a shift
/// of the upper half of the product. As the divisor is odd, no quotient is halfway between two bytes, nor
/// close enough for rounding to f32 to make it so.
struct ByteQuotient {
  explicit ByteQuotient(std::int64_t pixels)
      : half(static_cast<std::uint16_t>(pixels / 2)),
        shift(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(pixels))) - 1),
        multiplier(static_cast<std::uint16_t>((std::int64_t{1} << (16 + shift)) / pixels + 1)) {}
  /// Whether sums and multiplier fit, and the product is exact enough.
  static bool fits(std::int64_t pixels) {
    if (pixels < 3 || pixels > 255 || pixels % 2 == 0) return false;
    const ByteQuotient quotient(pixels);
    const std::int64_t whole = std::int64_t{1} << (16 + quotient.shift);
    return (255 * pixels + quotient.half) * (quotient.multiplier * pixels - whole) < whole;
  }
  std::uint8_t of(std::uint16_t sum) const {
    const auto raised = static_cast<std::uint32_t>(sum + half);
    return static_cast<std::uint8_t>(raised * multiplier >> 16 >> shift);
  }

  std::uint16_t half;
  int shift;
  std::uint16_t multiplier;
};

/// Whether IntegerBox supports it: the mean of adjacent values whose sums are exact in f32.
bool is_box_of_integers(const Window& window, const Border& border, PixelType type, std::int64_t channels,
                        Arithmetic arithmetic);

/// Column strips: their rows, with halo, stay in the L1 cache.
struct IntegerBoxSizes {
  static constexpr std::int64_t kStripElements = 4096, kStripRadii = 16;

  IntegerBoxSizes(const Window& window, Extent out, std::int64_t channels)
      : strip_cols(
            std::min(std::max(ceil_div(kStripElements, channels), kStripRadii * window.radius_x), out.cols)),
        elements(round_up((strip_cols + 2 * window.radius_x) * channels, 64) + 128) {}

  std::int64_t scratch_bytes() const {
    return 4 * Arena::bytes_for(elements * static_cast<std::int64_t>(sizeof(float)));
  }

  std::int64_t strip_cols;
  std::int64_t elements;  ///< of a row with its border and space for vector accesses beyond its end
};

}  // namespace sepconv
