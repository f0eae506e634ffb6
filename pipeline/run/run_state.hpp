// State shared by the threads of a streaming run: a lock for their counters, the first failure and the
// reported progress. Internal to the streaming runners.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/start_thread.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// The memory resources of a run: those of the options, or the defaults.
inline std::pmr::memory_resource* host_memory(const ExecutionOptions& options) {
  return options.memory != nullptr ? options.memory : page_resource();
}
inline std::pmr::memory_resource* pinned_memory(const ExecutionOptions& options) {
  return options.pinned_memory != nullptr ? options.pinned_memory : pinned_resource();
}
inline std::pmr::memory_resource* device_memory(const ExecutionOptions& options) {
  return options.device_memory != nullptr ? options.device_memory : device_resource();
}

/// Throws InvalidArgument if options.bands is set, which requires a plan.
inline void check_no_bands(const ExecutionOptions& options) {
  if (options.bands)
    throw InvalidArgument("bands can only be run with a plan of a chain; make one with plan() and run it");
}

/// A run of a plan, with its memory allocated.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// Reads, computes and writes everything. Throws the first failure, or Cancelled, after all threads have
  /// ended.
  virtual void execute(Timeline& timeline) = 0;
  /// Number of host threads: the plan's, or fewer if not all could be started.
  virtual int threads() const noexcept = 0;
  /// After execute(): what each device did, and warnings about devices that failed.
  virtual std::vector<LaneReport> lanes() const { return {}; }
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// The threads of a run besides the calling one. The destructor joins them.
class Roles {
 public:
  /// Starts a thread. Throws Error if none can be started.
  template <class Work>
  void start(const Work& work) {
    threads_.emplace_back();  // first, because it may throw and a started thread would have to be joined
    threads_.back() = start_thread(work);
  }

 private:
  std::vector<std::jthread> threads_;
};

/// The runner stores how many bands each of its threads has finished; these counters are protected by this
/// object's lock.
class RunState {
 public:
  /// `parts`, `pixels`: totals of the result for the progress.
  RunState(std::int64_t parts, std::int64_t pixels, std::int64_t pixel_bytes,
           const ExecutionOptions& options);

  /// Token that fail() stops; for the pool and for arenas.
  std::stop_token stop_token() const noexcept { return stop_.get_token(); }

  /// Waits until `reached()`, evaluated under the lock, is true; returns false if the run has failed.
  template <class Reached>
  bool wait_until(const Reached& reached) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ != nullptr || reached(); });
    return error_ == nullptr;
  }

  /// Calls `change()` under the lock and wakes all waiting threads.
  template <class Change>
  void update(const Change& change) {
    {
      const std::scoped_lock lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  /// Counts source bytes for the progress. Thread-safe.
  void add_bytes_read(std::int64_t bytes);

  /// Counts a written part of the result, samples the memory and reports the progress. Call from one thread
  /// at a time.
  void report_written(const Rect& part, Timeline& timeline);

  /// Calls `work()`. Its first exception becomes the run's failure: requests the stop and wakes all waiting
  /// threads.
  template <class Work>
  void attempt(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// Calls `work(roles)`, which starts threads and runs the calling thread's role. If options.stop is
  /// requested, the run fails with Cancelled. Throws the first failure after all threads have ended.
  template <class Work>
  void run_to_end(const Work& work) {
    const std::stop_callback cancel(options_.stop, [this] { fail(std::make_exception_ptr(Cancelled())); });
    {
      Roles roles;
      attempt([&] { work(roles); });  // also if a thread could not be started: the started ones wait for it
    }
    rethrow_failure();
  }

 private:
  void fail(std::exception_ptr error) noexcept;
  void rethrow_failure();

  std::int64_t pixel_bytes_;  // of the result
  const ExecutionOptions& options_;
  Progress progress_;  // used by one writing thread at a time; bytes_read_ is counted separately
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t bytes_read_ = 0;
  std::exception_ptr error_;
};

}  // namespace sepconv
