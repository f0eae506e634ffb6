// Folders in the making that killed processes left next to a target. Private to this folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

namespace sepconv {

/// For a folder; negative, with errno, for what is none.
int open_folder(const std::filesystem::path& folder) noexcept;

/// What killed processes of this user left: marked (kUnfinishedMark) or empty, and locked by nobody. Sorted.
std::vector<std::filesystem::path> find_dead_folders(const std::filesystem::path& target);
/// Removes one, if it still is one.
void remove_dead_folder(const std::filesystem::path& folder) noexcept;
/// Removes a marked folder, with the mark last: what is left after the deadline, or by a process that is
/// killed meanwhile, is still marked, or empty. Others may remove it, or write in it, at the same time.
void remove_marked_folder(
    const std::filesystem::path& folder,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max()) noexcept;

}  // namespace sepconv
