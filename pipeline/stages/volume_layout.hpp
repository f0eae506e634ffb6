// Rectangles of planes that are concatenated in the rows of a volume. Private to pipeline/stages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace sepconv {

/// Planes concatenated in a row.
struct PlaneRow {
  Extent plane;

  std::int64_t plane_of(std::int64_t col) const noexcept { return col / plane.area(); }
  /// The columns that these rows of plane `index` occupy.
  Rect cols_of(std::int64_t index, std::int64_t first_row, std::int64_t rows) const noexcept {
    return {0, index * plane.area() + first_row * plane.cols, 1, rows * plane.cols};
  }
  /// The whole rows of plane `index` within `cols` columns from `col` on.
  Rect rows_in(std::int64_t index, std::int64_t col, std::int64_t cols) const noexcept {
    const std::int64_t first = ceil_div(std::max<std::int64_t>(col - index * plane.area(), 0), plane.cols);
    const std::int64_t end = std::min(col + cols - index * plane.area(), plane.area());
    return {first, 0, std::max<std::int64_t>(end / plane.cols - first, 0), plane.cols};
  }
};

/// A part of a row of planes that is a rectangle of one plane.
struct PlanePiece {
  std::int64_t plane;
  Rect rect;               ///< position in the plane
  std::int64_t first_col;  ///< position in the row
};

/// Splits columns into pieces, plane by plane: the end of a plane row, whole rows, and the beginning of a
/// row.
inline std::vector<PlanePiece> pieces_of(const PlaneRow& row, std::int64_t col, std::int64_t cols) {
  std::vector<PlanePiece> pieces;
  const std::int64_t width = row.plane.cols;
  for (std::int64_t at = col; at < col + cols;) {
    const std::int64_t plane = row.plane_of(at);
    const std::int64_t in_plane = at - plane * row.plane.area();
    const std::int64_t left = std::min(col + cols - at, row.plane.area() - in_plane);
    const std::int64_t from = in_plane % width;
    Rect rect{in_plane / width, from, 1, std::min(left, width - from)};
    if (from == 0 && left >= width) rect = {in_plane / width, 0, left / width, width};
    pieces.push_back({plane, rect, at});
    at += rect.area();
  }
  return pieces;
}

/// A view of a rectangle of one plane, in pixels of a row of planes. `first_col` is the column of the first
/// of these pixels.
template <class Byte>
BasicRegion<Byte> as_plane(const BasicPixelView<Byte>& row, std::int64_t first_col, const PlaneRow& planes,
                           std::int64_t plane, const Rect& rect) {
  BasicPixelView<Byte> pixels = row;
  pixels.data += (planes.cols_of(plane, rect.row, 1).col + rect.col - first_col) * row.pixel_bytes();
  pixels.extent = rect.extent();
  pixels.pitch_bytes = planes.plane.cols * row.pixel_bytes();
  return {pixels, rect, planes.plane};
}

}  // namespace sepconv
