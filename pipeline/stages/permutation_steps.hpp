// Stages that move pixels in ways that permutations of three axes need besides transpositions. They have no
// names that can be typed.
#pragma once

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// An image of a rows and b matrices side by side, each of c columns, becomes one of c * b rows of a pixels:
/// row k * b + j is column j * c + k. A transposition after which the rows of the matrices take turns.
/// Rectangles of whole columns cost their own bytes; others cost whole rows of the input. Throws
/// InvalidArgument where b matrices do not fill the columns.
StagePtr make_multi_step_transpose(std::int64_t matrices);

/// A transposition of runs of pixels that stay together: an image of a rows of b runs becomes one of b rows
/// of a runs. Rectangles within one run of one row, and those of whole runs, cost their own bytes. Throws
/// InvalidArgument where runs do not fill the rows.
StagePtr make_transpose_of_runs(std::int64_t run_cols);

}  // namespace sepconv
