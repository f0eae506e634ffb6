// Tasks that are best done by one thread after the other. Private to io.
#pragma once

#include <algorithm>

#include "core/executor.hpp"

namespace sepconv {

/// Runs the tasks of a loop in their order, never two at a time, on another executor's threads. For writing
/// into a file: the kernel lets one thread at a time do that, and those that wait for their turn keep their
/// processors busy (decisions/0008). A stop of the other executor ends the loop after some tasks.
class SerializedExecutor final : public Executor {
 public:
  explicit SerializedExecutor(Executor& executor) : executor_(executor) {}

  int concurrency() const noexcept override { return 1; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    for (std::int64_t first = 0; first < count; first += kAtOnce) {
      executor_.for_each(1, [&](std::int64_t, int) {
        for (std::int64_t index = first; index < std::min(first + kAtOnce, count); ++index) task(index, 0);
      });
    }
  }

 private:
  // Up to 32 MiB: between two lots other loops have their turn, which takes time.
  static constexpr std::int64_t kAtOnce = 64;

  Executor& executor_;
};

}  // namespace sepconv
