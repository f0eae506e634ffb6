// A stage that applies one operation to every element. `text` is its Stage::text().
#pragma once

#include <string>

#include "pipeline/chain/stage.hpp"

namespace sepconv {

StagePtr pointwise_stage(std::string text, const PointwiseOp& op);

}  // namespace sepconv
