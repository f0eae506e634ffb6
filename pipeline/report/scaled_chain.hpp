// A chain for a smaller level of an image.
#pragma once

#include <string>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

struct ScaledChain {
  Chain chain;
  /// Its stages with lengths of their own, and nothing else of them: "gaussian:sigma=0.5".
  std::vector<std::string> lengths{};
  /// Where it does not do on the level what the chain does on the image, a sentence each.
  std::vector<std::string> notes{};
};

/// What does to a level of one image that has one pixel for `scale` x `scale` of its image what `chain` does
/// to that: lengths in pixels (sigma, radius) are divided by it, radii rounded. Behind a stage that makes a
/// size of its own (resize:to) nothing is.
ScaledChain scaled_chain(const Chain& chain, double scale);

}  // namespace sepconv
