// A stage with one graph for images without missing pixels and one for others. Private to pipeline/stages.
#pragma once

#include <array>
#include <string>

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// Computes `plain` where no pixel that is needed is missing (NaN), and otherwise `normalized`, one for f32
/// and one for f64. Both have the same bits where no pixel is missing. Its other properties are those of
/// `plain`.
StagePtr make_missing_aware_stage(std::string text, StagePtr plain, std::array<StagePtr, 2> normalized);

}  // namespace sepconv
