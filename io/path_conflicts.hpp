// Detects outputs that would overwrite inputs.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sepconv {

/// Paths that a job reads and writes, with a description of each, such as "the input image".
using PathsInUse = std::vector<std::pair<std::filesystem::path, std::string>>;

/// Whether both names refer to the same file, also through links and if it does not exist yet.
bool is_same_name(const std::filesystem::path& a, const std::filesystem::path& b);

/// Whether writing `file` conflicts with the path `used`: it is the same file, contains it, or is in the
/// outermost Zarr group of it.
bool is_of(const std::filesystem::path& file, const std::filesystem::path& used);

/// The folders that contain this file or folder and would change if it is replaced; empty if it does not
/// exist. Label images do not count as part of their image.
std::vector<std::filesystem::path> containing_folders(const std::filesystem::path& output);

/// Throws InvalidArgument if the output is an input file, contains one, or is part of an input folder
/// (containing_folders()).
void check_not_read(const std::filesystem::path& output, const PathsInUse& read);

/// Throws the errors that creating the output would throw, such as an existing file or a missing folder. For
/// plans, which create nothing.
void check_writable(const std::filesystem::path& output, bool overwrite);

}  // namespace sepconv
