// Whether a file is the one that it was, for no more than some hundred reads.
#pragma once

#include <filesystem>
#include <string>

namespace sepconv {

/// For a file its size, the time of its last change and samples of its bytes: the beginning, the end, and
/// pieces between. Of a folder names, sizes and times of all files in it, but for
/// those of results that are not complete. Throws IoError.
std::string fingerprint(const std::filesystem::path& path);

}  // namespace sepconv
