// GDAL's tags of TIFF. Internal to io/.
#pragma once

#include <cstdint>

namespace sepconv {

constexpr std::uint32_t kGdalMetadata = 42112;
constexpr std::uint32_t kGdalNodata = 42113;

}  // namespace sepconv
