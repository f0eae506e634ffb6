// The threads of one run. Made with the run and ended with it, so that a library user is left with no thread
// and no global scheduler (docs/decisions/0003-own-thread-pool.md says why this is not oneTBB).
#pragma once

#include <condition_variable>
#include <exception>
#include <limits>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/executor.hpp"

namespace sepconv {

/// Executor over a fixed number of threads. Any number of callers may have a loop in progress; callers sleep
/// while workers work, so at most concurrency() threads are busy. Workers serve loops in the order in which
/// they were begun.
class ThreadPool final : public Executor {
 public:
  /// A stop of `stop` ends every loop, present and future, with Cancelled after the tasks that are running.
  /// Throws Error if not all threads can be had.
  explicit ThreadPool(int threads, std::stop_token stop = {});

  /// This many threads, or fewer where the system gives no more: then it keeps half of what could be had, and
  /// leaves at least `others`, for the threads and the memory that a run takes besides it. Throws Error if not
  /// one can be had.
  struct AtMost {
    int threads = 1;
    int others = 0;
  };
  explicit ThreadPool(AtMost most, std::stop_token stop = {});

  ~ThreadPool() override;

  int concurrency() const noexcept override { return static_cast<int>(workers_.size()); }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override;

 private:
  struct Loop {
    const std::function<void(std::int64_t, int)>* task;
    std::int64_t count;
    std::int64_t next = 0;
    int running = 0;
    std::exception_ptr error;

    bool exhausted() const noexcept { return next == count || error != nullptr; }
    bool finished() const noexcept { return exhausted() && running == 0; }
  };

  void start(int threads);
  void end_from(int worker) noexcept;
  void work(int worker);
  void run_one(Loop& loop, int worker, std::unique_lock<std::mutex>& lock);

  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable loop_finished_;
  std::list<Loop*> loops_;                           // those with indices left to hand out
  int ends_from_ = std::numeric_limits<int>::max();  // workers from this one on end
  std::vector<std::jthread> workers_;
};

}  // namespace sepconv
