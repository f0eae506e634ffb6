// Resolutions as PNG and BMP store them: whole numbers of pixels per metre.
#pragma once

#include <cstdint>
#include <optional>

#include "io/metadata.hpp"

namespace sepconv {

struct PixelDensity {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

/// Rounded; of a resolution without a unit its numbers. Nothing if they are not from 1 to 2^31 - 1.
std::optional<PixelDensity> per_metre(const Resolution& resolution) noexcept;

/// Per inch: 300 of them were written as 11811 per metre, and become 300 again.
Resolution per_inch(PixelDensity stored) noexcept;

}  // namespace sepconv
