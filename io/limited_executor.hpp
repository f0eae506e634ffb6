// An executor that runs few tasks at a time.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/executor.hpp"

namespace sepconv {

/// Runs the tasks of a loop in their order, at most `concurrency` of them at a time, on another executor's
/// threads. For writing to a file: the kernel serialises write() calls to a file, and waiting threads would
/// keep their processors busy (decisions/0008); it permits a few threads to store to a mapped file
/// (io/mapped_store.hpp). A stop of the other executor ends the loop after some tasks.
class LimitedExecutor final : public Executor {
 public:
  LimitedExecutor(Executor& executor, int concurrency) : executor_(executor), concurrency_(concurrency) {}

  int concurrency() const noexcept override { return concurrency_; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    const std::int64_t batch = kTasksPerThread * concurrency_;
    for (std::int64_t first = 0; first < count; first += batch) {
      const std::int64_t end = std::min(first + batch, count);
      std::atomic<std::int64_t> next = first;
      executor_.for_each(std::min<std::int64_t>(concurrency_, end - first), [&](std::int64_t worker, int) {
        for (std::int64_t index = next++; index < end; index = next++) task(index, static_cast<int>(worker));
      });
    }
  }

 private:
  // Up to 64 MiB per thread and batch. Other loops run between batches, which costs time.
  static constexpr std::int64_t kTasksPerThread = 64;

  Executor& executor_;
  int concurrency_;
};

}  // namespace sepconv
