// A stage that filters along z, too: sigma_z, radius_z, axis=z. On planes of a stack, which it meets as the
// rows of one image (volume_stage.hpp), it is a pass along the columns and then a stage within each plane.
#pragma once

#include "sepconv/pipeline/stages/keys.hpp"

namespace sepconv {

/// `along_z` filters columns only, `in_plane` is null where nothing is done within planes. The text is the
/// spelling's. Until it is taken apart by on_volume() the stage throws InvalidArgument, which says that there
/// is no axis z, when it is asked what it needs or to compute.
StagePtr make_deep(const Spelling& spelling, StagePtr in_plane, StagePtr along_z);

}  // namespace sepconv
