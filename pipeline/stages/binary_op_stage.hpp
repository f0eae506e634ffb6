// A stage that joins its input with a second image, pixel by pixel. Private to
// pipeline/stages.
#pragma once

#include "pipeline/stages/keys.hpp"
#include "pipeline/stages/on_volume.hpp"

namespace sepconv {

/// `op` is binary: its second operand is the second image, whose axes are those where it is an array in a
/// file. Looks at that once, when it is made: its headers alone. Throws IoError, and InvalidArgument for what
/// cannot stand next to an image.
StagePtr binary_op_stage(const StageArguments& spelling, const SecondaryImage& image, const std::string& axes,
                         const PointwiseOp& op);

/// A stage that has_secondary, for volumes whose planes it has as its input: its second image is one plane,
/// or as many along the same axes. Throws InvalidArgument for another, and for a stage that is none of these.
StagePtr volume_operand(const StagePtr& stage, const VolumeShape& shape);

}  // namespace sepconv
