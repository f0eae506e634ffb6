// Combinations of several filters of a volume. Private to pipeline/stages.
#pragma once

#include <vector>

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// VolumeJoin (volume_filter_stage.hpp) applied to a volume.
struct JoinedOnVolume {
  StagePtr stage;  ///< the stage with the VolumeJoin
  Extent plane;
  std::vector<StagePtr> branches{};
};

StagePtr make_joined_volume(JoinedOnVolume joined);

}  // namespace sepconv
