// Names of what this process has begun and not completed. A process that ends without unwinding, as after a
// signal, removes it by them.
#pragma once

#include <chrono>
#include <filesystem>
#include <shared_mutex>
#include <vector>

namespace sepconv::unfinished_paths {

/// While one is held remove_all() waits: for making something and adding its name, and for completing it.
using Turn = std::shared_lock<std::shared_timed_mutex>;
Turn turn();

/// A file, a folder that has kUnfinishedMark, or a folder that goes if it is empty.
void add(const std::filesystem::path& path);
/// It is gone, or complete.
void forget(const std::filesystem::path& path) noexcept;
/// A result has got its name.
void note_complete() noexcept;
/// Whether any has.
bool is_any_complete() noexcept;

/// Removes all that is unfinished, until the deadline, and returns what is left of it. From then on turn()
/// waits for ever: the caller ends the process next.
std::vector<std::filesystem::path> remove_all(std::chrono::steady_clock::time_point deadline);

}  // namespace sepconv::unfinished_paths
