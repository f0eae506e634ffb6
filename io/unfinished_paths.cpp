#include "io/unfinished_paths.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

#include "io/incomplete_output.hpp"
#include "io/zarr/stale_temporaries.hpp"

namespace sepconv::unfinished_paths {
namespace {

namespace fs = std::filesystem;

struct State {
  std::shared_timed_mutex turns;
  std::mutex lock;  // of `paths`
  std::set<fs::path> paths;
  std::atomic<bool> is_any_complete = false;
};

/// Outlives whatever ends behind main().
State& state() {
  static State& all = *new State;
  return all;
}

bool is_gone(const fs::path& path) {
  std::error_code unknown;
  return !fs::exists(fs::symlink_status(path, unknown));
}

}  // namespace

Turn turn() { return Turn(state().turns); }

void add(const fs::path& path) {
  const std::lock_guard lock(state().lock);
  state().paths.insert(path);
}

void forget(const fs::path& path) noexcept {
  const std::lock_guard lock(state().lock);
  state().paths.erase(path);
}

void note_complete() noexcept { state().is_any_complete = true; }

bool is_any_complete() noexcept { return state().is_any_complete; }

std::vector<fs::path> remove_all(std::chrono::steady_clock::time_point deadline) {
  // Where a system call under a turn does not return, the rest is removed all the same.
  static_cast<void>(state().turns.try_lock_until(deadline - std::chrono::milliseconds(200)));
  const std::lock_guard lock(state().lock);
  std::vector<fs::path> left;
  for (auto path = state().paths.rbegin(); path != state().paths.rend();
       ++path) {  // what lies in a folder first
    if (is_incomplete_output(*path))
      remove_marked_folder(*path, deadline);
    else
      std::remove(path->c_str());
    if (!is_gone(*path)) left.push_back(*path);
  }
  return left;
}

}  // namespace sepconv::unfinished_paths
