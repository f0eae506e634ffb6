// Syncs files and folders to the disk, and renames without replacing. Internal to io/.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sepconv {

/// Starts writeback of bytes that were just written, in whole MiB, so that a later sync waits less. Only a
/// hint; never fails.
void begin_writing(int descriptor, std::int64_t offset, std::int64_t bytes) noexcept;

/// Syncs a file, or the whole file system of a folder. Throws IoError.
void sync_content(const std::filesystem::path& name);

/// Syncs the entries of a folder. Throws IoError.
void sync_names(const std::filesystem::path& folder);

/// Renames a file or a folder without replacing anything. Returns 0 or an errno, which is EEXIST if `to`
/// exists. On file systems without RENAME_NOREPLACE, a file is hard-linked (which also fails if `to` exists),
/// and a folder may replace an empty folder.
int rename_noreplace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept;

}  // namespace sepconv
