// Whether steps go on at the same time, asked without a clock: they can only meet if they do.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sepconv::test {

/// A place where so many threads wait for each other, for as long as nobody could take it for slowness.
class Meeting {
 public:
  explicit Meeting(int guests) : missing_(guests) {}
  void attend() {
    std::unique_lock lock(mutex_);
    --missing_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::minutes(2), [this] { return missing_ <= 0 || given_up_; });
    given_up_ = given_up_ || missing_ > 0;  // one that waited in vain is enough
    changed_.notify_all();
  }
  bool took_place() const {
    const std::scoped_lock lock(mutex_);
    return missing_ <= 0 && !given_up_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
  bool given_up_ = false;
};

/// Counts who is inside at once.
class Room {
 public:
  void enter() {
    if (++inside_ > 1) shared_ = true;
  }
  void leave() { --inside_; }
  bool was_shared() const { return shared_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<bool> shared_ = false;
};

}  // namespace sepconv::test
