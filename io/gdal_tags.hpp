// GDAL's and GeoTIFF's tags of TIFF. Internal to io/.
#pragma once

#include <cstdint>

namespace sepconv {

constexpr std::uint32_t kGdalMetadata = 42112;
constexpr std::uint32_t kGdalNodata = 42113;
constexpr std::uint32_t kPixelScale = 33550;
constexpr std::uint32_t kTiepoints = 33922;
constexpr std::uint32_t kTransformation = 34264;
constexpr std::uint32_t kRpcCoefficients = 50844;

}  // namespace sepconv
