// GDAL's mask in a file next to an image (x.tif.msk, a TIFF), and pixels that are missing because all
// channels have the nodata value.
#pragma once

#include <filesystem>
#include <memory>

#include "io/raster_set.hpp"

namespace sepconv {

/// Adds missing pixels to a set according to OpenOptions: those of a mask file next to the file, if the set
/// is a single raster without its own mask, and those whose channels all have the nodata value.
/// SourceLayout::warnings explain why a mask is ignored. Throws InvalidArgument if the nodata value is
/// unknown.
std::unique_ptr<RasterSet> with_missing_pixels(std::unique_ptr<RasterSet> set,
                                               const std::filesystem::path& path, const OpenOptions& options);

/// Name of the mask file without its folder; empty if it does not exist.
std::string sibling_mask(const std::filesystem::path& image);

}  // namespace sepconv
