// Files that other programs keep next to an image: GDAL's metadata and overviews, which are not read, its
// masks (sibling_mask.hpp) and world files (world_file.hpp). None of them is written. Internal to io/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

/// Adds a sentence if there are some next to a source that are not read.
void warn_of_unread_sidecars(const std::filesystem::path& source, bool reads_world_files,
                             std::vector<std::string>& warnings);

/// Adds a sentence if there are some next to a file that is yet to be written, which they cannot describe.
void warn_of_stale_sidecars(const std::filesystem::path& target, std::vector<std::string>& warnings);

}  // namespace sepconv
