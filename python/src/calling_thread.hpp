// Calls from the threads of a run back to the thread that called it.
#pragma once

#include <cxxabi.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "without_gil.hpp"

namespace sepconv::python {

/// The thread that calls a run. Only this thread uses the caller's objects and functions, because they may be
/// bound to it or need a lock that it holds.
class CallingThread {
 public:
  /// The object for the next run of the current thread; the endpoints of that run share it.
  static std::shared_ptr<CallingThread>& next() {
    thread_local auto thread = std::make_shared<CallingThread>();
    return thread;
  }

  /// Calls `function` on the calling thread, with the GIL, and rethrows its exception. After a failure,
  /// throws that failure without calling.
  void call(const std::function<void()>& function) {
    if (std::this_thread::get_id() == id_) {
      const nb::gil_scoped_acquire acquired;
      return function();
    }
    std::packaged_task<void()> task([&] { attempt(function); });
    std::future<void> result = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
    result.get();
  }

  /// Notes that there will be no more calls.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }

  // The following functions must be called on the calling thread, which holds the GIL.

  /// Executes queued calls until `time`, or until end() was called and the queue is empty; returns true then.
  bool serve_until(std::chrono::steady_clock::time_point time) {
    while (std::chrono::steady_clock::now() < time) {
      std::packaged_task<void()> task;
      {
        const WithoutGil released;
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, time, [&] { return ended_ || !tasks_.empty(); });
        if (tasks_.empty()) return ended_;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
    return false;
  }

  /// Calls `function`; its exception is stored as the failure and rethrown.
  void attempt(const std::function<void()>& function) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      function();
    } catch (const abi::__forced_unwind&) {
      block_forever();
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }

  bool has_failed() const noexcept { return failure_ != nullptr; }

  /// Resets the object for the next run. Returns the failure of this run, or null.
  std::exception_ptr reset() {
    ended_ = false;
    return std::exchange(failure_, nullptr);
  }

 private:
  const std::thread::id id_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace sepconv::python
