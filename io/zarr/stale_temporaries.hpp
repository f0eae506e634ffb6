// Unfinished folders that killed processes left next to a target. Private to this folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

namespace sepconv {

/// Opens a folder and returns its descriptor, or -1 with errno.
int open_folder(const std::filesystem::path& folder) noexcept;

/// Folders that killed processes of this user left: marked (kUnfinishedMark) or empty, and not locked.
/// Sorted.
std::vector<std::filesystem::path> find_dead_folders(const std::filesystem::path& target);
/// Removes such a folder if it is still stale.
void remove_dead_folder(const std::filesystem::path& folder) noexcept;
/// Removes a marked folder and removes its mark last. If the deadline passes or the process is killed, the
/// rest is still marked, or empty. Other processes may remove it, or write to it, simultaneously.
void remove_marked_folder(
    const std::filesystem::path& folder,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max()) noexcept;

}  // namespace sepconv
