// Zarrs that a result is to replace, or would lie in. Private to io.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

/// Whether a folder is an array or a group, by what its metadata say.
bool is_zarr(const std::filesystem::path& folder);

/// What lies in such a folder besides its metadata, its chunks and the levels of an image: other arrays of a
/// group, and files of whoever put them there.
std::vector<std::string> others_in(const std::filesystem::path& folder);

/// Throws IoError where a result would lie in an array, however deep: no node lies below one.
void check_not_in_array(const std::filesystem::path& target);

}  // namespace sepconv
