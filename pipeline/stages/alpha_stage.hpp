// Stages for images with alpha.
#pragma once

#include <string>

#include "kernels/pointwise/alpha.hpp"
#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// A stage that applies one alpha operation to each pixel. `text` is its Stage::text().
StagePtr alpha_stage(std::string text, const AlphaOp& op);

/// `stage` applied to all channels except `alpha`, which keeps its value unless it becomes NaN. The stage
/// must compute each pixel from the pixels at and around the same position.
StagePtr colours_only_stage(StagePtr stage, std::int64_t alpha);

}  // namespace sepconv
