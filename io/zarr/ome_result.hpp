// Converts an image to OME-Zarr: arrays with the axes t, c, z, y, x in this order, and their metadata.
// Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/raster_set.hpp"
#include "io/stack/ngff.hpp"
#include "io/zarr/zarr_axes.hpp"

namespace sepconv {

struct OmeResult {
  Metadata remaining_metadata{};  ///< metadata that `image` does not represent
  OmeImage image;                 ///< with the axes of the arrays, in their order
  /// The axes of the arrays. If images along c have several channels a pixel, these are consecutive along the
  /// array's axis c.
  ZarrAxes axes;

  /// The spec of the same images for zarr_result_array(), with images along c as channels of a pixel.
  RasterSetSpec as_array(RasterSetSpec spec) const;
  /// The array with its axes in the order of OME-Zarr.
  ZarrArray ordered(ZarrArray array) const;
  /// Paths and factors for the extents of the image and of its smaller levels.
  std::vector<NgffLevelFactors> level_factors(const std::vector<Extent>& levels) const;
};

/// Null if the result is to be a plain array, or if OME-Zarr does not support its axes, which adds a warning.
/// Throws InvalidArgument for such axes if levels are requested.
std::optional<OmeResult> ome_result(const RasterSetSpec& spec, const CreateOptions& options,
                                    std::vector<std::string>& warnings);

}  // namespace sepconv
