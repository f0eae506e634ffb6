// Files of other programs next to an image: GDAL's metadata and overviews (not read), its masks
// (sibling_mask.hpp) and world files (world_file.hpp). None of them is written. Internal to io/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

/// Adds a warning if files next to a source are not read.
void warn_about_unread_sidecars(const std::filesystem::path& source, bool reads_world_files,
                                std::vector<std::string>& warnings);

/// Adds a warning if files next to a target describe an earlier file of that name.
void warn_of_stale_sidecars(const std::filesystem::path& target, std::vector<std::string>& warnings);

}  // namespace sepconv
