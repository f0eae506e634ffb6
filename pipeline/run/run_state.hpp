// What the threads of a streaming run share: how far each has come, the first failure, and the progress that
// is reported. Internal to the streaming runners.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/start_thread.hpp"
#include "kernels/cuda/runtime.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// Where a run's memory comes from: what the options name, or the usual.
inline std::pmr::memory_resource* host_memory(const ExecutionOptions& options) {
  return options.memory != nullptr ? options.memory : page_resource();
}
inline std::pmr::memory_resource* pinned_memory(const ExecutionOptions& options) {
  return options.pinned_memory != nullptr ? options.pinned_memory : pinned_resource();
}
inline std::pmr::memory_resource* device_memory(const ExecutionOptions& options) {
  return options.device_memory != nullptr ? options.device_memory : device_resource();
}

/// Bands are those of a plan that the caller has seen.
inline void check_no_bands(const ExecutionOptions& options) {
  if (options.bands)
    throw InvalidArgument("bands are run of a plan of a chain; make one by plan(), and run that");
}

/// The roles of a run that have threads of their own. Ends when they have.
class Roles {
 public:
  /// Throws Error where no thread can be had.
  template <class Work>
  void start(const Work& work) {
    threads_.emplace_back();  // before there is a thread that would have to be waited for if this throws
    threads_.back() = start_thread(work);
  }

 private:
  std::vector<std::jthread> threads_;
};

/// How many bands each role has finished is the runner's to keep; it is read and changed under this state's
/// lock.
class RunState {
 public:
  /// This many pixels of the result are written in this many parts.
  RunState(std::int64_t parts, std::int64_t pixels, std::int64_t pixel_bytes,
           const ExecutionOptions& options);

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

  /// A part of the result has been written: counts it, notes the memory and reports the progress. From one
  /// thread.
  void report_written(const Rect& part, Timeline& timeline);

  /// Calls `work()`; what that throws is the run's failure, if it is the first: the stop is requested, and
  /// all who wait are woken.
  template <class Work>
  void attempt(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// Attempts `work(roles)`, which starts the roles that have threads of their own and plays the caller's. A
  /// stop of the options fails the run with Cancelled. Throws the first failure; all threads have ended then.
  template <class Work>
  void run_to_end(const Work& work) {
    const std::stop_callback cancel(options_.stop, [this] { fail(std::make_exception_ptr(Cancelled())); });
    {
      Roles roles;
      attempt([&] { work(roles); });  // also when a thread could not be had: those that began wait for it
    }
    rethrow_failure();
  }

 private:
  void fail(std::exception_ptr error) noexcept;
  void rethrow_failure();

  std::int64_t pixel_bytes_;  // of the result
  const ExecutionOptions& options_;
  Progress progress_;  // the writer's own, but for what add_bytes_read counts
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t bytes_read_ = 0;
  std::exception_ptr error_;
};

}  // namespace sepconv
