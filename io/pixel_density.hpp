// Resolutions as stored in PNG and BMP: integer numbers of pixels per metre.
#pragma once

#include <cstdint>
#include <optional>

#include "io/metadata.hpp"

namespace sepconv {

struct PixelDensity {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

/// Converts to pixels per metre, rounded. A resolution without a unit is not converted. Null if a number is
/// not in 1 to 2^31 - 1.
std::optional<PixelDensity> per_metre(const Resolution& resolution) noexcept;

/// Converts to pixels per inch. Inverts the rounding of per_metre(): 11811 per metre becomes 300.
Resolution per_inch(PixelDensity stored) noexcept;

}  // namespace sepconv
