// Test images that are computed on demand, so that images of any size need no memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "io/reader.hpp"

namespace sepconv {

enum class Pattern : std::uint8_t {
  natural,   ///< fractal value noise with contour edges, seeded; different in each channel; compresses like a
             ///< photograph
  gradient,  ///< rises linearly along the diagonal from the minimum to the maximum of the type (0 to 1 for
             ///< floating types)
  checkerboard,  ///< squares of 8 x 8 pixels with 0 and the maximum (1 for floating types)
  impulse,       ///< 0 except for one maximum (1 for floating types) at (rows / 2, cols / 2)
  noise,         ///< independent uniform values, seeded: the worst case for a codec
};
std::optional<Pattern> parse_pattern(std::string_view name) noexcept;
std::string_view name_of(Pattern pattern) noexcept;

/// A reader of a pattern. The pixels depend only on spec, pattern and seed, not on the machine or the
/// rectangles.
std::unique_ptr<Reader> make_pattern_reader(const ImageSpec& spec, Pattern pattern, std::uint64_t seed);

}  // namespace sepconv
