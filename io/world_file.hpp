// World files: six lines of text next to an image with its georeference.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// Possible names of an image's world file, in GDAL's order: x.tfw, x.tifw and x.wld for x.tif, then x.TFW
/// and so on.
std::vector<std::filesystem::path> world_files(const std::filesystem::path& image);

/// Adds GeoTIFF tags for the world file next to an image that has no georeference. Adds a warning for an
/// invalid world file. Returns the name of the file, without the folder, if it was read.
std::string read_world_file(const std::filesystem::path& image, Metadata& metadata,
                            std::vector<std::string>& warnings);

}  // namespace sepconv
