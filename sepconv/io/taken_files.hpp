// Files that no other may take the place of.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sepconv {

/// What a job reads and makes, and what each file is, like "the input image".
using TakenFiles = std::vector<std::pair<std::filesystem::path, std::string>>;

/// Whether both names lead to one file, through links too and also when it is yet to be made.
bool is_same_name(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws InvalidArgument if the output is one of the files that are read for it.
void check_not_read(const std::filesystem::path& output, const TakenFiles& read);

/// Throws what making the output would begin with: the file exists, its folder does not. For plans, which
/// make nothing.
void check_can_be_made(const std::filesystem::path& output, bool overwrite);

}  // namespace sepconv
