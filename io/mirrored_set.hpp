// Images with their rows or columns in the other order, as their orientation says.
#pragma once

#include <cstdint>
#include <memory>

#include "io/raster_set.hpp"

namespace sepconv {

/// Whether, of an image that is mirrored so, rows are still to become columns.
constexpr bool is_transposed(std::uint16_t orientation) noexcept { return orientation >= 5; }

/// The same rasters, each mirrored so that its transposition, or itself where !is_transposed(), is upright;
/// they have no orientation then. Throws InvalidArgument for a set whose rasters have another than this, or a
/// georeference, which no orientation is applied to.
std::unique_ptr<RasterSet> mirrored(std::unique_ptr<RasterSet> set, std::uint16_t orientation);

}  // namespace sepconv
