// A stage of one operation on pixels that alpha hides or not.
#pragma once

#include <string>

#include "kernels/pointwise/alpha.hpp"
#include "pipeline/chain/stage.hpp"

namespace sepconv {

StagePtr alpha_stage(std::string text, const AlphaOp& op);

/// The stage, for all channels but one, which stays what it is but where it becomes NaN. The stage makes
/// pixels of those in the same places and around them.
StagePtr stage_of_colours(StagePtr stage, std::int64_t alpha);

}  // namespace sepconv
