// A stage that combines its input with the result of a subchain applied to the same input. Private to
// pipeline/stages.
#pragma once

#include "pipeline/stages/keys.hpp"

namespace sepconv {

/// `op` is binary; its second operand is the result of the chain. Throws InvalidArgument if that result is
/// not aligned with the input: for stages that move pixels, scale, multiply by a matrix, or have a second
/// image.
StagePtr subchain_stage(const StageArguments& stage_args, const Chain& chain, const PointwiseOp& op);
/// The same with this Stage::text(), for a chain that has been checked.
StagePtr subchain_stage(std::string text, const Chain& chain, const PointwiseOp& op);

}  // namespace sepconv
