// Metadata as text, for `sepconv info`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/metadata.hpp"
#include "io/stack/ome_image.hpp"

namespace sepconv {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Adds a line for each existing kind of metadata; long texts are shortened.
void add_metadata(Facts& facts, const Metadata& metadata);

/// Adds pixel sizes, steps along other axes, the origin, and channel names.
void add_image_facts(Facts& facts, const OmeImage& image);

/// The value of a GeoTIFF key that is stored in the key directory (34735) itself; null otherwise.
std::optional<int> geo_key(const std::vector<RawTag>& tags, int key);

/// Whether coordinates are those of pixel centres (GTRasterTypeGeoKey is RasterPixelIsPoint).
bool is_pixel_point(const std::vector<RawTag>& tags);

}  // namespace sepconv
