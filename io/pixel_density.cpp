#include "io/pixel_density.hpp"

#include <cmath>

namespace sepconv {
namespace {

constexpr double kMetresPerInch = 0.0254;

double inches(double per_metre) {
  const double whole = std::round(per_metre * kMetresPerInch);
  return std::round(whole / kMetresPerInch) == per_metre ? whole : per_metre * kMetresPerInch;
}

}  // namespace

std::optional<PixelDensity> per_metre(const Resolution& resolution) noexcept {
  const double metres = resolution.unit == Resolution::Unit::inch         ? kMetresPerInch
                        : resolution.unit == Resolution::Unit::centimetre ? 0.01
                                                                          : 1;
  const double x = std::round(resolution.x / metres);
  const double y = std::round(resolution.y / metres);
  const auto fits = [](double value) { return value >= 1 && value <= 2147483647.0; };
  if (!fits(x) || !fits(y)) return std::nullopt;
  return PixelDensity{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)};
}

Resolution per_inch(PixelDensity stored) noexcept {
  return {inches(stored.x), inches(stored.y), Resolution::Unit::inch};
}

}  // namespace sepconv
