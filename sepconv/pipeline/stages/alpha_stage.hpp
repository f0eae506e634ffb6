// A stage of one operation on pixels that alpha hides or not.
#pragma once

#include <string>

#include "sepconv/kernels/pointwise/alpha.hpp"
#include "sepconv/pipeline/chain/stage.hpp"

namespace sepconv {

StagePtr alpha_stage(std::string text, const AlphaOp& op);

}  // namespace sepconv
