// A stage on a volume (on_volume.hpp): a pass along z, and then what is done within each plane. Private to
// sepconv/pipeline/stages.
#pragma once

#include "sepconv/pipeline/chain/chain.hpp"

namespace sepconv {

class OnVolume : public Stage {
 public:
  /// Of the input, at most, wherever an output of this extent lies.
  virtual Extent most_needed(Extent output, const ImageSpec& input) const = 0;

 protected:
  using Stage::Stage;
};

/// Of a stage for planes of this extent, which become planes of the other.
std::shared_ptr<const OnVolume> make_volume_stage(const Stage& stage, Extent from, Extent to);

}  // namespace sepconv
