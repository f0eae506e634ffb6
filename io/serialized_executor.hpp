// An executor for tasks that should not run concurrently. Private to io.
#pragma once

#include <algorithm>

#include "core/executor.hpp"

namespace sepconv {

/// Runs the tasks of a loop in order, never two concurrently, on another executor's threads. For writing to a
/// file: the kernel serialises writes to a file, and waiting threads would keep their processors busy
/// (decisions/0008). A stop of the other executor ends the loop after some tasks.
class SerializedExecutor final : public Executor {
 public:
  explicit SerializedExecutor(Executor& executor) : executor_(executor) {}

  int concurrency() const noexcept override { return 1; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    for (std::int64_t first = 0; first < count; first += kBatchTasks) {
      executor_.for_each(1, [&](std::int64_t, int) {
        for (std::int64_t index = first; index < std::min(first + kBatchTasks, count); ++index)
          task(index, 0);
      });
    }
  }

 private:
  // Up to 32 MiB per batch. Other loops run between batches, which costs time.
  static constexpr std::int64_t kBatchTasks = 64;

  Executor& executor_;
};

}  // namespace sepconv
