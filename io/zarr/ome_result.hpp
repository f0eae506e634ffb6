// What an image becomes as OME-Zarr: arrays with the axes t, c, z, y, x in this order, and what is said of
// them. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/raster_set.hpp"
#include "io/stack/ngff.hpp"
#include "io/zarr/zarr_axes.hpp"

namespace sepconv {

struct OmeResult {
  Metadata left{};  ///< what is not said of the image
  OmeImage image;   ///< with the axes of the arrays, in their order
  /// For the arrays. Images along c that have channels of their own lie one behind the other along the axis of
  /// channels, which is both then.
  ZarrAxes axes;

  /// The same images as the array has them, before its axes are in their order.
  RasterSetSpec as_array(RasterSetSpec spec) const;
  /// This array of an image with its axes in the order of OME-Zarr.
  ZarrArray ordered(ZarrArray array) const;
  /// For the extents of the image and of its smaller levels.
  std::vector<NgffLevelFactors> steps(const std::vector<Extent>& levels) const;
};

/// Nothing for an array like its source, and, with a sentence in `warnings`, for axes that OME-Zarr cannot
/// have. Throws InvalidArgument for those if levels are asked for.
std::optional<OmeResult> ome_result(const RasterSetSpec& spec, const CreateOptions& options,
                                    std::vector<std::string>& warnings);

}  // namespace sepconv
