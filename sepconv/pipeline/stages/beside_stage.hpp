// A stage that joins its input with a second image, pixel by pixel. Private to sepconv/pipeline/stages, but
// for what planning asks of it.
#pragma once

#include "sepconv/pipeline/stages/keys.hpp"

namespace sepconv {

/// `op` is binary: its second operand is the second image. Looks at that once, when it is made: its headers
/// alone. Throws IoError, and InvalidArgument for what cannot stand beside an image.
StagePtr beside_stage(const Spelling& spelling, const SecondImage& image, const PointwiseOp& op);

}  // namespace sepconv
