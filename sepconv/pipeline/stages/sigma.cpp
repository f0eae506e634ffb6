#include "sepconv/pipeline/stages/sigma.hpp"

#include <fmt/format.h>

#include "sepconv/kernels/conv/taps.hpp"

namespace sepconv {

std::int64_t radius_of(const StageArgs& args, std::int64_t fallback, std::int64_t most) {
  const std::int64_t radius = args.integer("radius", fallback);
  if (radius < 0 || radius > most) args.fail("radius", fmt::format("it lies between 0 and {}", most));
  return radius;
}

Gaussian gaussian_of(const StageArgs& args, std::string_view sigma_key) {
  Gaussian gaussian;
  gaussian.sigma = args.number(sigma_key);
  if (gaussian.sigma <= 0) args.fail(sigma_key, "it must be greater than 0");
  if (args.has("radius")) {
    if (args.has("truncate")) args.fail("radius", "give radius or truncate, not both");
    gaussian.radius = radius_of(args, 0, kMaxRadius);
    return gaussian;
  }
  const double truncate = args.number("truncate", 4.0);
  if (truncate < 0) args.fail("truncate", "it must not be negative");
  if (truncate * gaussian.sigma + 0.5 > static_cast<double>(kMaxRadius)) {
    args.fail(sigma_key,
              fmt::format("the radius would exceed {}; take a smaller sigma or give radius", kMaxRadius));
  }
  gaussian.radius = gaussian_radius(gaussian.sigma, truncate);
  return gaussian;
}

std::vector<StageEntry::Key> gaussian_keys() {
  return {{"sigma", "standard deviation in pixels, greater than 0"},
          {"truncate", "radius in standard deviations (default 4): radius = int(truncate * sigma + 0.5)"},
          {"radius", "radius in pixels, instead of truncate"}};
}

}  // namespace sepconv
