// Checks of the Zarr that a result would replace, or that would contain it. Private to io.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

/// Whether a folder has the metadata of an array or a group.
bool is_zarr(const std::filesystem::path& folder);

/// Names of entries in such a folder that are not its metadata, its chunks or the levels of its image: other
/// arrays of a group, and unrelated files.
std::vector<std::string> unrelated_entries(const std::filesystem::path& folder);

/// Throws IoError if the target is inside an array, at any depth. An array has no child nodes.
void check_not_in_array(const std::filesystem::path& target);

}  // namespace sepconv
