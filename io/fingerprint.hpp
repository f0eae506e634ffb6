// Detects changed files with at most some hundred reads.
#pragma once

#include <filesystem>
#include <string>

namespace sepconv {

/// For a file: its size, modification time and checksums of samples (beginning, end and positions between).
/// For a folder: the names, sizes and times of all its files except those of incomplete results. Throws
/// IoError.
std::string fingerprint(const std::filesystem::path& path);

}  // namespace sepconv
