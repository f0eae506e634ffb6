// A stage that joins its input with what a chain of its own makes of that. Private to
// pipeline/stages.
#pragma once

#include "pipeline/stages/keys.hpp"

namespace sepconv {

/// `op` is binary: its second operand is the chain's result. Throws InvalidArgument for a chain whose result
/// does not lie over its input: what moves pixels, scales, multiplies by a matrix of whole sides or has a
/// second image.
StagePtr subchain_stage(const StageArguments& spelling, const Chain& chain, const PointwiseOp& op);
/// The same of a stage's text, for a chain that has been checked.
StagePtr subchain_stage(std::string text, Chain chain, const PointwiseOp& op);
/// The chain of such a stage; null of any other.
const Chain* subchain_of(const Stage& stage);
/// Such a stage with another chain: of volumes what on_volume() makes of its own, of one plane what
/// in_planes() does.
StagePtr with_subchain(const Stage& stage, Chain chain);

}  // namespace sepconv
