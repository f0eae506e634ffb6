// The mask that GDAL keeps in a file next to an image: x.tif.msk, a TIFF; and pixels that are missing as a
// whole.
#pragma once

#include <filesystem>
#include <memory>

#include "io/raster_set.hpp"

namespace sepconv {

/// The set, in which pixels are missing that OpenOptions say to be: its only raster's by a mask next to the
/// file if it has none of its own, and those of whose channels all have the nodata value.
/// SourceLayout::warnings say of a mask that is left out why. Throws InvalidArgument where no nodata value is
/// known.
std::unique_ptr<RasterSet> with_missing_pixels(std::unique_ptr<RasterSet> set,
                                               const std::filesystem::path& path, const OpenOptions& options);

/// The file's name, without its folder, if there is one.
std::string sibling_mask(const std::filesystem::path& image);

}  // namespace sepconv
