// Mirrors the rows and columns of images according to their orientation.
#pragma once

#include <cstdint>
#include <memory>

#include "io/raster_set.hpp"

namespace sepconv {

/// Whether a mirrored image must still be transposed to be upright.
constexpr bool is_transposed(std::uint16_t orientation) noexcept { return orientation >= 5; }

/// The rasters, each mirrored so that it is upright, or its transpose if is_transposed(). Their orientation
/// is then 1. Throws InvalidArgument if a raster has another orientation or a georeference, which is not
/// mirrored.
std::unique_ptr<RasterSet> mirrored(std::unique_ptr<RasterSet> set, std::uint16_t orientation);

}  // namespace sepconv
