// What brings files and their names to the disk, and renames that replace nothing. Internal to io/.
#pragma once

#include <filesystem>

namespace sepconv {

/// What was written under a name, to the disk; of a folder all that its file system was given. Throws
/// IoError.
void sync_content(const std::filesystem::path& name);

/// The names in a folder, to the disk. Throws IoError.
void sync_names(const std::filesystem::path& folder);

/// Renames a file or a folder. Returns 0 or an errno, EEXIST where `to` is there. File systems that cannot do
/// it in one step get a hard link of a file, which fails likewise, and a folder is never put in the place of
/// one that has something in it.
int rename_to_absent(const std::filesystem::path& from, const std::filesystem::path& to) noexcept;

}  // namespace sepconv
