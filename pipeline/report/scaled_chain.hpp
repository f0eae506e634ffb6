// A chain rewritten for a smaller pyramid level of an image.
#pragma once

#include <string>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

struct ScaledChain {
  Chain chain;
  /// Name and lengths of each stage that has lengths: "gaussian:sigma=0.5".
  std::vector<std::string> lengths{};
  /// Differences from the chain on the full image, one sentence each.
  std::vector<std::string> notes{};
};

/// The chain for a level with one pixel per `scale` x `scale` pixels of the image: lengths in pixels (sigma,
/// radius) are divided by `scale`, radii are rounded. Stages after one that sets an absolute size (resize:to)
/// are not changed.
ScaledChain scaled_chain(const Chain& chain, double scale);

}  // namespace sepconv
