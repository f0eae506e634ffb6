// What brings files and their names to the disk, and renames that replace nothing. Internal to io/.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sepconv {

/// Has the disk begin with what was just written to a file, as far as it fills MiB or begins the file, so
/// that who waits for the whole file has little to wait for. A hint, which never fails.
void begin_writing(int descriptor, std::int64_t offset, std::int64_t bytes) noexcept;

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
