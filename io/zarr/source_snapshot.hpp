// The state of files when they were opened, to detect changes. Private to this folder.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sepconv {

/// Records the size and modification time of opened files. If there are many, records a sample spread evenly
/// over all. Thread-safe.
class OpenedFiles {
 public:
  /// Records the file of this name; `status` is null if it does not exist.
  void add(const std::string& name, const struct stat* status) {
    const std::scoped_lock lock(mutex_);
    if (count_++ % step_ != 0) return;
    if (snapshots_.size() == kMaxSnapshots) thin_out();
    snapshots_.push_back({name, state_of(status)});
  }
  /// Whether a recorded file has changed. `get_status` returns its current status, or null.
  bool any_has_changed(
      const std::function<const struct stat*(const std::string& name, struct stat& into)>& get_status) const {
    const std::scoped_lock lock(mutex_);
    for (const Snapshot& snapshot : snapshots_) {
      struct stat now {};
      if (state_of(get_status(snapshot.name, now)) != snapshot.state) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kMaxSnapshots = 1024;

  struct State {
    std::int64_t bytes, seconds, nanoseconds;
    bool operator==(const State&) const = default;
  };
  struct Snapshot {
    std::string name;
    std::optional<State> state;
  };

  static std::optional<State> state_of(const struct stat* status) {
    if (status == nullptr) return std::nullopt;
    return State{status->st_size, status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
  }
  void thin_out() {
    for (std::size_t i = 0; 2 * i < snapshots_.size(); ++i) std::swap(snapshots_[i], snapshots_[2 * i]);
    snapshots_.resize(kMaxSnapshots / 2);
    step_ *= 2;
  }

  mutable std::mutex mutex_;
  std::int64_t count_ = 0, step_ = 1;
  std::vector<Snapshot> snapshots_;
};

}  // namespace sepconv
