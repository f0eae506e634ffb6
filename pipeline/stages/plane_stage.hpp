// A stage that processes each plane of a volume (on_volume.hpp) as an image. Private to pipeline/stages.
#pragma once

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// `stage` on volumes with planes of extent `from`, which become planes of extent `to`.
StagePtr make_plane_stage(StagePtr stage, Extent from, Extent to);

}  // namespace sepconv
