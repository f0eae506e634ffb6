// The axes of a set of rasters besides rows, columns and channels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

struct RasterAxis {
  std::string name;  ///< "t", "c", "z", "s" (series), another letter, or "page" if its meaning is unknown
  std::int64_t size = 1;   ///< number of selected positions
  std::int64_t first = 0;  ///< first selected position of the file's axis
  bool single = false;     ///< a single position was selected. Formats whose arrays have any number of axes
                           ///< (NPY) drop the axis, as NumPy does for an index
  friend bool operator==(const RasterAxis&, const RasterAxis&) = default;
};

/// Slowest axis first: rasters are numbered like the elements of a C array. Empty: one raster.
using RasterAxes = std::vector<RasterAxis>;

std::int64_t raster_count(const RasterAxes& axes) noexcept;
/// The axis of this name; null if it does not exist.
const RasterAxis* find_axis(const RasterAxes& axes, std::string_view name) noexcept;
/// Position of a raster along each axis, counted as in the file.
std::vector<std::int64_t> position_of(const RasterAxes& axes, std::int64_t index);
/// "t 2, z 30": the axes longer than 1; "1" if there are none.
std::string to_string(const RasterAxes& axes);
/// "t=0, z=29": the position along the axes longer than 1.
std::string position_text(const RasterAxes& axes, std::int64_t index);

/// Renames the axes by letters such as "zyx" or "tzyxc". The last letters must be y and x, optionally
/// followed by c or s for the `channels` of a pixel. The letters before name all axes, or those longer than
/// 1. Throws InvalidArgument for invalid letters, IoError if the number of axes differs; messages begin with
/// `what`.
RasterAxes named_axes(const RasterAxes& axes, std::string_view letters, std::int64_t channels,
                      const std::string& what);

/// Positions [first, last] of an axis, or of pages if the name is empty.
struct AxisRange {
  std::string axis;
  std::int64_t first = 0, last = 0;
};
/// Parses "3", "0-9", "c=1" or "z=2-5,t=0": pages, or ranges of named axes. Throws InvalidArgument.
std::vector<AxisRange> parse_selection(std::string_view text);

}  // namespace sepconv
