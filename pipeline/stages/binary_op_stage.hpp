// A stage that combines its input with a second image, pixel by pixel. Private to pipeline/stages.
#pragma once

#include "pipeline/stages/keys.hpp"

namespace sepconv {

/// `op` is binary; its second operand is the second image. `axes` are the letters of its axes if it is an
/// array in a file. Reads the headers of the image once. Throws IoError, and InvalidArgument if the image
/// cannot be a second image.
StagePtr binary_op_stage(const StageArguments& stage_args, const SecondaryImage& image,
                         const std::string& axes, const PointwiseOp& op);

}  // namespace sepconv
