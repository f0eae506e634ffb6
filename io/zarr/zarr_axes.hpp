// Maps the axes of an array to those of its images, and derives the layout of the array as a source. Private
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

/// The axes of an array that are the rows, columns, channels and other axes of its images.
struct ZarrAxes {
  int row = -1, col = -1, channel = -1;  ///< -1: does not exist
  std::vector<int> others;               ///< in the order of the array
  RasterAxes rasters;                    ///< names and lengths of `others`
  std::string letters;                   ///< of all axes, as in OpenOptions::axes
  /// The array's axis names if rows and columns were recognized by them; else empty.
  std::string row_name{}, col_name{}, channel_name{};
};

/// `letters`: as OpenOptions::axes; if empty, the axes follow from ZarrArray::names, or from an unambiguous
/// shape. An array without axes is an image of one pixel. Throws as npy_axes().
ZarrAxes zarr_axes(const ZarrArray& array, std::string_view letters, const std::filesystem::path& name);

/// zarr_order_text(): ZarrLayout::order of an array. zarr_order(): parses it; null if the axes differ.
std::string zarr_order_text(const ZarrArray& array, const ZarrAxes& axes);
std::optional<std::vector<int>> zarr_order(std::string_view text, const ZarrAxes& axes);

/// The name of the channel axis, "c", or "s" if `others` has a c.
const char* channel_axis(const RasterAxes& others);

ImageSpec zarr_image(const ZarrArray& array, const ZarrAxes& axes);
/// The layout of the array as a source.
SourceLayout zarr_source_layout(const ZarrArray& array, const ZarrAxes& axes);

}  // namespace sepconv
