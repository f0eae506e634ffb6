// The threads of one run. They are started and joined with the run, so a library user has no threads and no
// global scheduler afterwards (docs/decisions/0003-own-thread-pool.md explains why this is not oneTBB).
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

/// Executor over a fixed number of threads. Several callers may run loops concurrently. Callers sleep while
/// workers run, so at most concurrency() threads are busy. Workers serve loops in the order of their start.
class ThreadPool final : public Executor {
 public:
  /// A request on `stop` ends every current and future loop with Cancelled after its running tasks. Throws
  /// Error if not all threads can be started.
  explicit ThreadPool(int threads, std::stop_token stop = {});

  /// Starts `threads` threads, or fewer if the system's limit is reached: then it keeps half of those started
  /// and leaves at least `others` for the other threads and memory of the run. Throws Error if no thread can
  /// be started.
  struct ThreadLimit {
    int threads = 1;
    int others = 0;
  };
  explicit ThreadPool(ThreadLimit limit, std::stop_token stop = {});

  ~ThreadPool() override;

  int concurrency() const noexcept override { return static_cast<int>(workers_.size()); }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    run_loop(count, task, false);
  }

  /// The same threads, which serve loops of this executor before those of the pool.
  Executor& preferred() noexcept { return preferred_; }

 private:
  class Preferred final : public Executor {
   public:
    explicit Preferred(ThreadPool& pool) : pool_(pool) {}
    int concurrency() const noexcept override { return pool_.concurrency(); }
    void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
      pool_.run_loop(count, task, true);
    }

   private:
    ThreadPool& pool_;
  };
  struct Loop {
    const std::function<void(std::int64_t, int)>* task;
    std::int64_t count;
    bool is_preferred;
    std::int64_t next = 0;
    int running = 0;
    std::exception_ptr error;

    bool exhausted() const noexcept { return next == count || error != nullptr; }
    bool finished() const noexcept { return exhausted() && running == 0; }
  };

  void run_loop(std::int64_t count, const std::function<void(std::int64_t, int)>& task, bool is_preferred);
  void start(int threads);
  void stop_workers_from(int worker) noexcept;
  void worker_loop(int worker);
  void run_next_task(Loop& loop, int worker, std::unique_lock<std::mutex>& lock);

  Preferred preferred_{*this};
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable loop_finished_;
  std::list<Loop*> loops_;  // loops with indices not yet handed out, preferred ones first
  int first_stopped_worker_ = std::numeric_limits<int>::max();  // this worker and those after it end
  std::vector<std::jthread> workers_;
};

}  // namespace sepconv
