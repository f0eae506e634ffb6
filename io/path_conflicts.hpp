// Detects outputs that would overwrite inputs.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sepconv {

/// What a job reads and makes, and what each file is, like "the input image".
using PathsInUse = std::vector<std::pair<std::filesystem::path, std::string>>;

/// Whether both names lead to one file, through links too and also when it is yet to be made.
bool is_same_name(const std::filesystem::path& a, const std::filesystem::path& b);

/// Whether a file cannot be written next to `taken`: it has its name, is what that lies in, or lies in the
/// outermost Zarr around it.
bool is_of(const std::filesystem::path& file, const std::filesystem::path& taken);

/// The folders that lose a part if this file or folder is replaced; none where it is yet to be made. An image
/// loses none with a label image.
std::vector<std::filesystem::path> containers_of(const std::filesystem::path& output);

/// Throws InvalidArgument if the output is one of the files that are read for it, or a part of a folder that
/// is read (containers_of()).
void check_not_read(const std::filesystem::path& output, const PathsInUse& read);

/// Throws what making the output would begin with: the file exists, its folder does not. For plans, which
/// make nothing.
void check_writable(const std::filesystem::path& output, bool overwrite);

}  // namespace sepconv
