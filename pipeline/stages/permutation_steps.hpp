// Stages for permutations of three axes that transpositions cannot express. They have no text that can be
// parsed.
#pragma once

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// Transposes b matrices of a rows x c columns that are side by side, and interleaves their rows: the result
/// has c * b rows of a pixels, and its row k * b + j is input column j * c + k. Rectangles of whole columns
/// read only their own bytes; others read whole input rows. Throws InvalidArgument if b matrices do not fill
/// the columns.
StagePtr make_interleaved_transpose(std::int64_t matrices);

/// Transposes an image whose elements are runs of pixels: a rows of b runs become b rows of a runs.
/// Rectangles within one run of one row, and those of whole runs, read only their own bytes. Throws
/// InvalidArgument if runs do not fill the rows.
StagePtr make_run_transpose(std::int64_t run_cols);

}  // namespace sepconv
