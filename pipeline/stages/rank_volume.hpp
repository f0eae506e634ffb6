// The element of one rank under a window over several planes, on a volume (on_volume.hpp). Private to
// pipeline/stages.
#pragma once

#include <memory>

#include "pipeline/stages/rank_stage.hpp"

namespace sepconv {

/// For planes of this extent. On the CPU only.
StagePtr make_rank_on_volume(std::shared_ptr<const RankStage> stage, Extent plane);

}  // namespace sepconv
