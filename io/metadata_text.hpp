// What `sepconv info` says of a file's metadata.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/metadata.hpp"
#include "io/stack/ome_image.hpp"

namespace sepconv {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Adds a line for each kind of metadata that is there; long texts are cut.
void add_metadata(Facts& facts, const Metadata& metadata);

/// Adds the sizes of pixels, steps along other axes, the origin, and names of channels.
void add_image_facts(Facts& facts, const OmeImage& image);

/// The number that the GeoTIFF key directory (34735) gives to a key itself.
std::optional<int> geo_key(const std::vector<RawTag>& tags, int key);

}  // namespace sepconv
