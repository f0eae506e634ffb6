// Which axes of an array are those of its images, and what follows of it for the array as a source. Private
// to io.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/raster_axes.hpp"
#include "io/reader.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

/// Which axes of an array are those of its images.
struct ZarrAxes {
  int row = -1, col = -1, channel = -1;  ///< -1: there is none
  std::vector<int> others;               ///< in the order of the array
  RasterAxes rasters;                    ///< the same, with names and lengths
  std::string letters;                   ///< of all axes, as OpenOptions::axes has them
  /// Those of the array where they say which axes these are; else empty.
  std::string row_name{}, col_name{}, channel_name{};
};

/// `letters` as OpenOptions::axes; empty: what ZarrArray::names say, or the shape leaves no doubt about. An
/// array without axes is an image of one pixel. Errors as npy_axes().
ZarrAxes zarr_axes(const ZarrArray& array, std::string_view letters, const std::filesystem::path& name);

/// ZarrLayout::order of such an array, and the order of its axes by that; nothing if these are others.
std::string zarr_order_text(const ZarrArray& array, const ZarrAxes& axes);
std::optional<std::vector<int>> zarr_order(std::string_view text, const ZarrAxes& axes);

/// What the channels of pixels are called, besides these axes.
const char* channel_axis(const RasterAxes& others);

ImageSpec zarr_image(const ZarrArray& array, const ZarrAxes& axes);
/// What is said of the array as a source.
SourceLayout zarr_source_layout(const ZarrArray& array, const ZarrAxes& axes);

}  // namespace sepconv
