// The axes of a set of rasters besides rows, columns and channels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

struct RasterAxis {
  std::string name;  ///< "t", "c", "z", "s" (series), another letter, or "page" where nothing says what it
                     ///< counts
  std::int64_t size = 1;   ///< of what is taken, which begins at
  std::int64_t first = 0;  ///< this position of the file's axis
  bool single = false;  ///< one position was asked for: a format whose arrays have as many axes as it needs
                        ///< (NPY) leaves the axis out, as NumPy does for an index
  friend bool operator==(const RasterAxis&, const RasterAxis&) = default;
};

/// Slowest first: rasters are counted as the elements of a C array of these axes. None: one raster.
using RasterAxes = std::vector<RasterAxis>;

std::int64_t raster_count(const RasterAxes& axes) noexcept;
/// The axis of this name; null if there is none.
const RasterAxis* find_axis(const RasterAxes& axes, std::string_view name) noexcept;
/// Where a raster lies along each axis, counted as the file does.
std::vector<std::int64_t> position_of(const RasterAxes& axes, std::int64_t index);
/// "t 2, z 30": those that are longer than 1; "1" if none is.
std::string to_string(const RasterAxes& axes);
/// "t=0, z=29", of axes that are longer than 1.
std::string position_text(const RasterAxes& axes, std::int64_t index);

/// What these letters name ("zyx", "tzyxc") where rows and columns are the last of them, c or s behind them
/// being the channels of a pixel, of which there are this many: the letters before, one for each axis that is
/// longer than 1, or for all. Nothing else of the axes changes. Throws InvalidArgument for what names none,
/// IoError for other axes than these; `what` begins both.
RasterAxes named_axes(const RasterAxes& axes, std::string_view letters, std::int64_t channels,
                      const std::string& what);

/// Positions [first, last] of an axis, or, with no name, of pages as the format counts them.
struct AxisRange {
  std::string axis;
  std::int64_t first = 0, last = 0;
};
/// "3", "0-9", "c=1", "z=2-5,t=0": pages, or ranges of named axes. Throws InvalidArgument.
std::vector<AxisRange> parse_selection(std::string_view text);

}  // namespace sepconv
