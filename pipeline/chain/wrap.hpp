// Rectangles that extend beyond a periodic image, as stages with border=wrap use them. Row -1 is the last
// row, row `rows` is the first one, and so on.
#pragma once

#include <optional>
#include <vector>

#include "core/geometry.hpp"

namespace sepconv {

/// A part of such a rectangle that is contiguous in the image.
struct PeriodicPiece {
  Rect at;      ///< position in the rectangle
  Rect inside;  ///< the same pixels in the image
};

/// Splits `rect` at the edges of the image and of its repetitions, row by row. A rectangle inside the image
/// is one piece.
std::vector<PeriodicPiece> periodic_pieces(const Rect& rect, Extent image);

/// Position within `available` of the pixels of `rect`, both rectangles of the periodic image; empty if
/// `available` does not contain them in one piece.
std::optional<Rect> find_repetition(const Rect& available, const Rect& rect, Extent image);

}  // namespace sepconv
