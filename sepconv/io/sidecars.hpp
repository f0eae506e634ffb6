// Files that other programs keep beside an image: GDAL's metadata, mask and overviews, and world files. They
// are neither read nor written, which is said. Internal to io/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

/// Adds a sentence if there are some beside a source. `has_place`: the source itself says where it lies, and
/// a world file adds nothing to that.
void warn_of_unread_sidecars(const std::filesystem::path& source, bool has_place,
                             std::vector<std::string>& warnings);

/// Adds a sentence if there are some beside a file that is yet to be written, which they cannot describe.
void warn_of_stale_sidecars(const std::filesystem::path& target, std::vector<std::string>& warnings);

}  // namespace sepconv
