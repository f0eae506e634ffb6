// Georeference of an image that is computed from another. Internal to io/.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// Updates the tags that refer to rows and columns (pixel scale, tie points, transformation, RPC) for an
/// image at `map` of the source. For a transposed image, scale and tie point are replaced by a
/// transformation. Returns false and changes nothing if a tag has a wrong type or length, or a tag it depends
/// on is missing.
bool update_georeference(std::vector<RawTag>& tags, const PixelTransform& map);

/// GDAL's geotransform t: the corner of pixel (row, col) is at x = t[0] + col t[1] + row t[2] and y = t[3] +
/// col t[4] + row t[5]. Null if the tags do not define one (OGC GeoTIFF 1.1, section 7) or
/// if its pixels have no finite size.
std::optional<std::array<double, 6>> geotransform(const std::vector<RawTag>& tags);

}  // namespace sepconv
