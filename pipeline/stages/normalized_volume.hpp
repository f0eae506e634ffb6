// A normalized filter of the valid pixels of a volume, along z and within planes together. Private to
// pipeline/stages.
#pragma once

#include <array>
#include <string>

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// NormalizedPasses (volume_filter_stage.hpp) applied to a volume.
struct NormalizedOnVolume {
  StagePtr values{};
  std::array<StagePtr, 2> weights{};  ///< null for window filters
  std::array<double, 2> totals{};
  bool fills = false;
};

/// `traits` are those of the stage without normalization.
StagePtr make_normalized_volume(std::string text, const StageTraits& traits, NormalizedOnVolume passes);

}  // namespace sepconv
