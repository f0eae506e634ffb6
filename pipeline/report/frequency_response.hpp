// The frequency response of a chain, measured from its response to lines.
#pragma once

#include <string>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Response along one axis of the image.
struct LineResponse {
  std::vector<double> taps;        ///< response to a line one pixel wide, which is in the middle
  std::vector<double> magnitudes;  ///< at evenly spaced frequencies from 0 to 0.5 cycles per pixel
};
struct ChainResponse {
  std::string unavailable_reason;  ///< the reason why no response exists, one sentence; empty if it exists
  LineResponse along_x, along_y;
  /// Whether both axes have the same response, except for rounding.
  bool is_isotropic() const;
};
/// The response of the chain without its casts. It does not exist if the chain is not linear, moves pixels,
/// mixes channels, changes the size, or has a radius above 512 pixels.
ChainResponse response_of(const Chain& chain);

}  // namespace sepconv
