// Rank filter with a window over several planes of a volume (on_volume.hpp). Private to pipeline/stages.
#pragma once

#include <memory>

#include "pipeline/stages/rank_stage.hpp"

namespace sepconv {

/// The stage for planes of this extent. It runs on a device for windows of up to kMaxDeviceRankPlanes planes.
StagePtr make_rank_on_volume(std::shared_ptr<const RankStage> stage, Extent plane);

}  // namespace sepconv
