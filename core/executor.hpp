// Distribution of work over threads: an interface, so that readers, writers and kernels need no thread
// library.
#pragma once

#include <cstdint>
#include <functional>

namespace sepconv {

/// Runs independent tasks. An implementation is thread-safe: several threads may call for_each
/// simultaneously.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Number of threads that may run tasks simultaneously, at least 1. A task's `worker` is below it.
  virtual int concurrency() const noexcept = 0;

  /// Calls task(index, worker) for every index in [0, count) in no particular order and returns when all are
  /// done. No two tasks with the same worker number run at the same time, so per-worker scratch needs no
  /// lock. The first exception (a task's own, or Cancelled) ends the loop early and is rethrown to the
  /// caller.
  virtual void for_each(std::int64_t count,
                        const std::function<void(std::int64_t index, int worker)>& task) = 0;
};

/// Runs all tasks on the calling thread.
class SerialExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return 1; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    for (std::int64_t index = 0; index < count; ++index) task(index, 0);
  }
};

}  // namespace sepconv
