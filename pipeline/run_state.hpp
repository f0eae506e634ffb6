// What the threads of a streaming run share: how far each has come, the first failure, and the progress that is reported. Internal to
// the streaming runners.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>

#include "sepconv/pipeline/run.hpp"

namespace sepconv {

/// How many bands each role has finished is the runner's to keep; it is read and changed under this state's lock.
class RunState {
 public:
  /// The result is written in so many parts.
  RunState(std::int64_t parts, const ImageSpec& result, const RunOptions& options);

  /// Stopped by fail(): for the pool and for scratch.
  std::stop_token stop_token() const noexcept { return stop_.get_token(); }

  /// Waits until `reached()`, which is asked under the lock; false when the run has failed.
  template <class Reached>
  bool wait_until(const Reached& reached) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ != nullptr || reached(); });
    return error_ == nullptr;
  }

  /// Calls `change()` under the lock and wakes all who wait.
  template <class Change>
  void update(const Change& change) {
    {
      const std::scoped_lock lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  /// Counts source bytes for the progress. From any thread.
  void add_bytes_read(std::int64_t bytes);

  /// A part of the result has been written: counts it and reports the progress. From one thread.
  void report_written(const Rect& part, const Timeline& timeline);

  /// Keeps the first failure, requests the stop and wakes all who wait.
  void fail(std::exception_ptr error) noexcept;
  void rethrow_failure();

 private:
  std::int64_t pixel_bytes_;  // of the result
  const RunOptions& options_;
  Progress progress_;  // the writer's own, but for what add_bytes_read counts
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t bytes_read_ = 0;
  std::exception_ptr error_;
};

}  // namespace sepconv
