// The smaller levels of a result, computed in the same pass.
#pragma once

#include <memory>

#include "io/checkpoint/checkpoint.hpp"
#include "io/writer.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// Returns a sink that passes its pixels to `image` and fills image->levels(). Each level is the stage
/// `reduce:factor=2` (with filter=nearest for OutputOptions::nearest_levels) of the stored previous level,
/// without `missing` pixels; nothing is read back. Rows must come in ascending order. Returns `image` itself
/// if it has no levels. `checkpoint`: checkpoint of the image, or null. A part saves there the rows of levels
/// in blocks shared with its neighbours, for the finishing process.
std::unique_ptr<Writer> fill_levels(std::unique_ptr<Writer> image, const MissingPixels& missing = {},
                                    const std::shared_ptr<Checkpoint>& checkpoint = {});

}  // namespace sepconv
