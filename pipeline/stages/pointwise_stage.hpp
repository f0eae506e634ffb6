// A stage of one operation on every element.
#pragma once

#include <string>

#include "pipeline/chain/stage.hpp"

namespace sepconv {

StagePtr pointwise_stage(std::string text, const PointwiseOp& op);

}  // namespace sepconv
