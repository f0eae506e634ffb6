#include "io/unfinished_paths.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

#include "io/checkpoint/folder.hpp"
#include "io/zarr/stale_temporaries.hpp"

namespace sepconv::unfinished_paths {
namespace {

namespace fs = std::filesystem;

struct State {
  std::shared_timed_mutex commit_mutex;
  std::mutex paths_mutex;  // protects `paths`
  std::set<fs::path> paths;
  std::atomic<bool> is_any_complete = false;
};

/// Never destroyed, because threads may use it after main().
State& state() {
  static State& instance = *new State;
  return instance;
}

bool is_absent(const fs::path& path) {
  std::error_code unknown;
  return !fs::exists(fs::symlink_status(path, unknown));
}

}  // namespace

Turn turn() { return Turn(state().commit_mutex); }

void add(const fs::path& path) {
  const std::lock_guard guard(state().paths_mutex);
  state().paths.insert(path);
}

void forget(const fs::path& path) noexcept {
  const std::lock_guard guard(state().paths_mutex);
  state().paths.erase(path);
}

void note_complete() noexcept { state().is_any_complete = true; }

bool is_any_complete() noexcept { return state().is_any_complete; }

std::vector<fs::path> remove_all(std::chrono::steady_clock::time_point deadline) {
  // Times out if a system call with a shared lock does not return; the rest is removed nevertheless.
  static_cast<void>(state().commit_mutex.try_lock_until(deadline - std::chrono::milliseconds(200)));
  const std::lock_guard guard(state().paths_mutex);
  std::vector<fs::path> remaining;
  for (auto path = state().paths.rbegin(); path != state().paths.rend();
       ++path) {  // reverse order: contents before their folder
    if (is_incomplete_output(*path))
      remove_marked_folder(*path, deadline);
    else
      std::remove(path->c_str());
    if (!is_absent(*path)) remaining.push_back(*path);
  }
  return remaining;
}

}  // namespace sepconv::unfinished_paths
