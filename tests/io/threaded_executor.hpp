// An executor that runs tasks concurrently even on one processor.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/executor.hpp"

namespace sepconv {

class ThreadedExecutor final : public Executor {
 public:
  explicit ThreadedExecutor(int threads) : threads_(threads) {}

  int concurrency() const noexcept override { return threads_; }

  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    std::atomic<std::int64_t> next = 0;
    std::exception_ptr first_error;
    std::mutex mutex;
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < threads_; ++worker) {
      threads.emplace_back([&, worker] {
        try {
          for (std::int64_t index = next++; index < count; index = next++) task(index, worker);
        } catch (...) {
          next = count;
          const std::lock_guard lock(mutex);
          if (!first_error) first_error = std::current_exception();
        }
      });
    }
    threads.clear();
    if (first_error) std::rethrow_exception(first_error);
  }

 private:
  int threads_;
};

}  // namespace sepconv
