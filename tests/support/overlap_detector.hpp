// Detects whether steps run concurrently, without a clock: they can only meet if they do.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sepconv::test {

/// A barrier for `participants` threads with a timeout of two minutes, longer than any delay of a slow
/// machine.
class Rendezvous {
 public:
  explicit Rendezvous(int participants) : missing_(participants) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    --missing_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::minutes(2), [this] { return missing_ <= 0 || timed_out_; });
    timed_out_ = timed_out_ || missing_ > 0;  // one timeout is enough
    changed_.notify_all();
  }
  bool all_arrived() const {
    const std::scoped_lock lock(mutex_);
    return missing_ <= 0 && !timed_out_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
  bool timed_out_ = false;
};

/// Detects whether two threads are inside simultaneously.
class OverlapDetector {
 public:
  void enter() {
    if (++inside_ > 1) overlapped_ = true;
  }
  void leave() { --inside_; }
  bool overlapped() const { return overlapped_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<bool> overlapped_ = false;
};

}  // namespace sepconv::test
