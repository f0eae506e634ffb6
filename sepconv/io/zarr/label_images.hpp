// Label images beside an image of OME-Zarr, which are no part of it and go along with it. Private to this
// folder.
#pragma once

#include <filesystem>
#include <string>

#include "sepconv/io/zarr/unfinished_folder.hpp"

namespace sepconv {

/// Copies all files below a folder, as they are, to a key of a result. Throws IoError, among that for links
/// that lead out of the folder.
void copy_label_images(const std::filesystem::path& folder, UnfinishedFolder& to, const std::string& key);

}  // namespace sepconv
