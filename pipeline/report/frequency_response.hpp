// What a chain does to frequencies, found by giving it lines.
#pragma once

#include <string>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// For structures that change along one side of the image and not along the other.
struct LineResponse {
  std::vector<double> taps;        ///< what becomes of a line of one pixel's width, its place in the middle
  std::vector<double> magnitudes;  ///< of frequencies from 0 to half a cycle a pixel, evenly spaced
};
struct ChainResponse {
  std::string why_not;  ///< one sentence; empty: there are both
  LineResponse along_x, along_y;
  /// Along both sides the same, but for what rounding makes of it.
  bool same_along_both() const;
};
/// For the chain without its casts. There is none where it is not linear, moves pixels, mixes channels,
/// changes the size, or reaches further than 512 pixels.
ChainResponse response_of(const Chain& chain);

}  // namespace sepconv
