// What is made of several filters of a volume. Private to sepconv/pipeline/stages.
#pragma once

#include <vector>

#include "sepconv/pipeline/chain/stage.hpp"

namespace sepconv {

/// DeepJoin (deep_stage.hpp) on a volume.
struct JoinedOnVolume {
  StagePtr given;  ///< which has it
  Extent plane;
  std::vector<StagePtr> branches{};
};

StagePtr make_joined_volume(JoinedOnVolume joined);

}  // namespace sepconv
