// The keys sigma, truncate and radius, which all Gaussian-based stages share.
#pragma once

#include "sepconv/pipeline/stages/definition.hpp"

namespace sepconv {

struct Gaussian {
  double sigma = 0;         ///< standard deviation in pixels
  std::int64_t radius = 0;  ///< taps on each side of the middle one
};

/// From `sigma_key`, and from radius or truncate (radius = int(truncate * sigma + 0.5), truncate 4 by
/// default).
Gaussian gaussian_of(const StageArgs& args, std::string_view sigma_key = "sigma");

/// Help for sigma, truncate and radius.
std::vector<StageEntry::Key> gaussian_keys();

/// The key radius, checked to be in [0, most].
std::int64_t radius_of(const StageArgs& args, std::int64_t fallback, std::int64_t most);

}  // namespace sepconv
