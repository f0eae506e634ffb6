// Rectangles that reach beyond an image which repeats: what a stage with border=wrap asks for. Row -1 is the
// last row, row `rows` the first one, and so on.
#pragma once

#include <optional>
#include <vector>

#include "core/geometry.hpp"

namespace sepconv {

/// A part of such a rectangle.
struct PeriodicPiece {
  Rect at;      ///< where the rectangle has it
  Rect inside;  ///< the same pixels in the image
};

/// `rect` cut at the image's edges and their repetitions, row by row; of one inside the image itself alone.
std::vector<PeriodicPiece> periodic_pieces(const Rect& rect, Extent image);

/// Where `held` has the pixels of `rect`, both rectangles of the repeated image; nothing if it has them
/// nowhere in one piece.
std::optional<Rect> repeated_in(const Rect& available, const Rect& rect, Extent image);

}  // namespace sepconv
