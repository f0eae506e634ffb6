// World files: six lines of text next to an image that say where its pixels lie.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// Names that a world file of this image may have, in the order in which GDAL looks for them: x.tfw, x.tifw
/// and x.wld for x.tif, and x.TFW and so on.
std::vector<std::filesystem::path> world_files(const std::filesystem::path& image);

/// For an image whose metadata do not say where it lies: adds the GeoTIFF tags that say what the world file
/// next to it does. A sentence for one that says nothing. Returns its name, without the folder, if it was
/// read.
std::string take_world_file(const std::filesystem::path& image, Metadata& metadata,
                            std::vector<std::string>& warnings);

}  // namespace sepconv
