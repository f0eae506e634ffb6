// A filter of what is there of a volume, along z and within planes at once. Private to
// sepconv/pipeline/stages.
#pragma once

#include <array>
#include <string>

#include "sepconv/pipeline/chain/stage.hpp"

namespace sepconv {

/// DeepPresent (deep_stage.hpp) on a volume.
struct PresentOnVolume {
  StagePtr values{};
  std::array<StagePtr, 2> weights{};  ///< null: of windows
  std::array<double, 2> totals{};
  bool fills = false;
};

/// `traits` are those of its passes.
StagePtr make_present_volume(std::string text, const StageTraits& traits, PresentOnVolume present);

}  // namespace sepconv
