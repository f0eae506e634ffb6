// A stage that joins its input with a second image, pixel by pixel. Private to
// sepconv/pipeline/stages.
#pragma once

#include "sepconv/pipeline/stages/keys.hpp"
#include "sepconv/pipeline/stages/on_volume.hpp"

namespace sepconv {

/// `op` is binary: its second operand is the second image, whose axes are those where it is an array in a
/// file. Looks at that once, when it is made: its headers alone. Throws IoError, and InvalidArgument for what
/// cannot stand beside an image.
StagePtr beside_stage(const Spelling& spelling, const SecondImage& image, const std::string& axes,
                      const PointwiseOp& op);

/// A stage that has_second, for volumes whose planes it has as its input: its second image is one plane, or
/// as many along the same axes. Throws InvalidArgument for another, and for a stage that is none of these.
StagePtr beside_volume(const StagePtr& stage, const VolumeShape& shape);

}  // namespace sepconv
