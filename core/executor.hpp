// How work is spread over threads: an interface, so that readers, writers and kernels need no thread library.
#pragma once

#include <cstdint>
#include <functional>

namespace sepconv {

/// Runs independent tasks. An implementation is thread-safe: several threads may call for_each at once.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Number of threads that may run tasks at once, at least 1. `worker` of a task is below it.
  virtual int concurrency() const noexcept = 0;

  /// Calls task(index, worker) for every index in [0, count) in no particular order and returns when all are
  /// done. No two tasks with the same worker number run at the same time, so per-worker scratch needs no
  /// lock. The first exception (a task's own, or Cancelled) ends the loop early and is thrown here, once.
  virtual void for_each(std::int64_t count,
                        const std::function<void(std::int64_t index, int worker)>& task) = 0;
};

/// One thread, the caller's.
class SerialExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return 1; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    for (std::int64_t index = 0; index < count; ++index) task(index, 0);
  }
};

}  // namespace sepconv
