// What files of a folder were when they were opened. Private to this folder.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sepconv {

/// For many files those of some, spread evenly over all that were opened. Thread-safe.
class OpenedFiles {
 public:
  /// A file of this name, or nothing where there was none.
  void add(const std::string& name, const struct stat* status) {
    const std::scoped_lock lock(mutex_);
    if (count_++ % step_ != 0) return;
    if (seen_.size() == kMax) thin_out();
    seen_.push_back({name, state_of(status)});
  }
  /// Whether one of them is another now, as `look` finds it.
  bool is_any_other(
      const std::function<const struct stat*(const std::string& name, struct stat& into)>& look) const {
    const std::scoped_lock lock(mutex_);
    for (const Seen& one : seen_) {
      struct stat now {};
      if (state_of(look(one.name, now)) != one.state) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kMax = 1024;

  struct State {
    std::int64_t bytes, seconds, nanoseconds;
    bool operator==(const State&) const = default;
  };
  struct Seen {
    std::string name;
    std::optional<State> state;
  };

  static std::optional<State> state_of(const struct stat* status) {
    if (status == nullptr) return std::nullopt;
    return State{status->st_size, status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
  }
  void thin_out() {
    for (std::size_t i = 0; 2 * i < seen_.size(); ++i) std::swap(seen_[i], seen_[2 * i]);
    seen_.resize(kMax / 2);
    step_ *= 2;
  }

  mutable std::mutex mutex_;
  std::int64_t count_ = 0, step_ = 1;
  std::vector<Seen> seen_;
};

}  // namespace sepconv
