// GDAL's metadata: the XML of TIFF's tag 42112, whose items have names, domains and roles.
// https://gdal.org/en/stable/drivers/raster/gtiff.html#metadata. Internal to io/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sepconv {

/// What items are about: the values (names STATISTICS_...), where pixels lie (domains GEOLOCATION,
/// TILING_SCHEME, RPC), how readers scale values (roles scale and offset), or what bands mean (role
/// colorinterp).
enum class GdalItems : std::uint8_t { statistics, places, scales, colours };

struct GdalRest {
  bool has_any = false;   ///< there are items of the kind
  std::string problem{};  ///< why nothing is known of them: "is damaged at byte 20"
  std::string xml{};      ///< without them; empty where no item is left, or none was of the kind
};
GdalRest without_items(const std::string& xml, GdalItems kind);

/// The descriptions of bands, in the order of the bands.
std::vector<std::string> band_descriptions(const std::string& xml);

}  // namespace sepconv
