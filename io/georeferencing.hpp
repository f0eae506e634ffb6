// Where an image lies on the earth, when another one is made of its pixels. Internal to io/.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// Changes the tags that speak of rows and columns (pixel scale, tie points, transformation, RPC) so that
/// they hold for the image that lies so in the one that they are of. Scale and tie point of an image that is
/// turned become a transformation. False, and nothing is changed, if one of them has not the type, the length
/// or the company that it should.
bool update_georeference(std::vector<RawTag>& tags, const PixelTransform& map);

/// GDAL's geotransform t: the corner of the pixel (row, col) is at x = t[0] + col t[1] + row t[2] and
/// y = t[3] + col t[4] + row t[5]. Nothing if the tags do not state one (OGC GeoTIFF 1.1, section 7).
std::optional<std::array<double, 6>> geotransform(const std::vector<RawTag>& tags);

}  // namespace sepconv
