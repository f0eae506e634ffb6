// A stage on a volume (on_volume.hpp): a pass along z, then a stage within each plane. Private to
// pipeline/stages.
#pragma once

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The stage on volumes with planes of extent `from`, which become planes of extent `to`.
StagePtr make_volume_stage(const Stage& stage, Extent from, Extent to);

}  // namespace sepconv
