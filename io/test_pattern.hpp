// Test images computed on demand: a Reader whose pixels are a formula, so that images of any size take no
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "io/reader.hpp"

namespace sepconv {

enum class Pattern : std::uint8_t {
  natural,   ///< fractal value noise with contour edges, seeded; every channel its own; looks like a
             ///< photograph to a codec
  gradient,  ///< rises linearly along the diagonal from the type's least to its greatest value (0 to 1 for
             ///< floating types)
  checkerboard,  ///< squares of 8 x 8 pixels, 0 and the largest value (1 for floating types)
  impulse,       ///< 0 but for one greatest value (1 for floating types) at (rows / 2, cols / 2)
  noise,         ///< independent uniform values, seeded: the worst case for a codec
};
std::optional<Pattern> parse_pattern(std::string_view name) noexcept;
std::string_view name_of(Pattern pattern) noexcept;

/// The same pixels for the same (spec, pattern, seed) on every machine and for every rectangle asked for.
std::unique_ptr<Reader> make_pattern_reader(const ImageSpec& spec, Pattern pattern, std::uint64_t seed);

}  // namespace sepconv
