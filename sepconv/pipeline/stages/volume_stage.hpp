// A stage on a volume (on_volume.hpp): a pass along z, and then what is done within each plane. Private to
// sepconv/pipeline/stages.
#pragma once

#include <optional>

#include "sepconv/pipeline/chain/chain.hpp"

namespace sepconv {

/// What all such stages are.
class VolumeStageBase : public Stage {
 public:
  using Stage::Stage;
  /// Of the input, at most, wherever an output of this extent lies.
  virtual Extent most_needed(Extent output, const ImageSpec& input) const = 0;
};

/// Of a stage for planes of this extent, which become planes of the other.
StagePtr make_volume_stage(const Stage& stage, Extent from, Extent to);
/// Of the input of such a stage, at most, wherever an output of this extent lies; nothing for others.
std::optional<Extent> most_needed(const Stage& stage, Extent output, const ImageSpec& input);

}  // namespace sepconv
