// Paths that this process has created and not completed. A process that ends without unwinding, as after a
// signal, removes them.
#pragma once

#include <chrono>
#include <filesystem>
#include <shared_mutex>
#include <vector>

namespace sepconv::unfinished_paths {

/// A shared lock that delays remove_all(). Hold it while creating something and adding its path, and while
/// completing it.
using Turn = std::shared_lock<std::shared_timed_mutex>;
Turn turn();

/// Adds a file, a folder with kUnfinishedMark, or a folder that is removed if empty.
void add(const std::filesystem::path& path);
/// Removes a path that was deleted or completed.
void forget(const std::filesystem::path& path) noexcept;
/// Records that a result was completed.
void note_complete() noexcept;
/// Whether any result was completed.
bool is_any_complete() noexcept;

/// Removes all unfinished paths until the deadline and returns those that remain. From then on turn() blocks
/// forever, as the caller ends the process next.
std::vector<std::filesystem::path> remove_all(std::chrono::steady_clock::time_point deadline);

}  // namespace sepconv::unfinished_paths
