// A filter of valid pixels of a volume, along z and within planes at once. Private to
// pipeline/stages.
#pragma once

#include <array>
#include <string>

#include "pipeline/chain/stage.hpp"

namespace sepconv {

/// NormalizedPasses (volume_filter_stage.hpp) on a volume.
struct NormalizedOnVolume {
  StagePtr values{};
  std::array<StagePtr, 2> weights{};  ///< null: of windows
  std::array<double, 2> totals{};
  bool fills = false;
};

/// `traits` are those of its passes.
StagePtr make_normalized_volume(std::string text, const StageTraits& traits, NormalizedOnVolume passes);

}  // namespace sepconv
