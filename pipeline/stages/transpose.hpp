// The stage that exchanges rows and columns, of an image or of each of many matrices that lie side by side in
// one.
#pragma once

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// How the matrices of an image lie: one below the other or one next to the other, all of the same shape.
enum class Stacking : std::uint8_t { rows, cols };

/// Every matrix of the image transposed, stacked as before: an image of `items` matrices of r x c pixels
/// becomes one of as many matrices of c x r. Pixels, with all their channels, stay what they are. One item is
/// the stage "transpose"; more are what permutations of a tensor's axes need, and have no name that can be
/// typed. Rectangles that keep to one matrix, or hold whole ones, cost their own bytes.
StagePtr make_transpose(std::int64_t items = 1, Stacking stacking = Stacking::rows);

}  // namespace sepconv
