// GDAL's metadata: the XML of TIFF's tag 42112, whose items have names, domains and roles.
// https://gdal.org/en/stable/drivers/raster/gtiff.html#metadata. Internal to io/.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sepconv {

/// Kinds of items: statistics of values (names STATISTICS_...), positions of pixels (domains GEOLOCATION,
/// TILING_SCHEME, RPC), scaling of values (roles scale and offset), and meanings of bands (role colorinterp).
enum class GdalItems : std::uint8_t { statistics, places, scales, colours };

struct GdalItemRemoval {
  bool found_any = false;  ///< the XML contains items of the kind
  std::string problem{};   ///< why the XML cannot be read: "is damaged at byte 20"
  std::string xml{};       ///< the XML without these items; empty if no item remains or none was removed
};
GdalItemRemoval remove_items(const std::string& xml, GdalItems kind);

/// The descriptions of bands by their indices, from 0.
std::map<std::int64_t, std::string> band_descriptions(const std::string& xml);

}  // namespace sepconv
