// A stage on a volume (on_volume.hpp): a pass along z, and then what is done within each plane. Private to
// pipeline/stages.
#pragma once

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// For a stage for planes of this extent, which become planes of the other.
StagePtr make_volume_stage(const Stage& stage, Extent from, Extent to);

}  // namespace sepconv
