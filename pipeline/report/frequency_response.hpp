// The taps of a chain, from its response to lines. Their Fourier transform is the frequency response.
#pragma once

#include <string>
#include <vector>

#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The taps of a chain along each axis: its response to a line one pixel wide, which is in the middle.
struct ChainResponse {
  std::string unavailable_reason;  ///< the reason why no response exists, one sentence; empty if it exists
  std::vector<double> along_x, along_y;
  /// Whether both axes have the same response, except for rounding.
  bool is_isotropic() const;
};
/// The response of the chain without its casts. It does not exist if the chain is not linear, moves pixels,
/// mixes channels, changes the size, or has a radius above 512 pixels.
ChainResponse response_of(const Chain& chain);

}  // namespace sepconv
