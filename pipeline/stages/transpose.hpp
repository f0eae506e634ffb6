// The stage that exchanges rows and columns of an image, or of each of several matrices stacked in one image.
#pragma once

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// Arrangement of the matrices in an image, one below the other or side by side, all of the same shape.
enum class Stacking : std::uint8_t { rows, cols };

/// Transposes every matrix and keeps the stacking: `items` matrices of r x c pixels become as many of c x r.
/// Pixels, with all their channels, stay unchanged. One item is the stage "transpose". More items serve
/// permutations of the axes of a tensor and have no text that can be parsed. Rectangles within one matrix, or
/// of whole matrices, read only their own bytes.
StagePtr make_transpose(std::int64_t items = 1, Stacking stacking = Stacking::rows);

}  // namespace sepconv
