// What the threads of a run ask of the one that called it.
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

/// The thread that calls a run, which alone touches the caller's objects and calls the caller's functions:
/// they may be bound to it, or need a lock that it holds.
class CallingThread {
 public:
  /// That of the run which this thread begins next; what is made for that run keeps it.
  static std::shared_ptr<CallingThread>& next() {
    thread_local auto thread = std::make_shared<CallingThread>();
    return thread;
  }

  /// Does `what` in that thread, with the GIL, and throws what it throws. Where something has failed before,
  /// that is thrown and nothing done.
  void call(const std::function<void()>& what) {
    if (std::this_thread::get_id() == id_) {
      const nb::gil_scoped_acquire acquired;
      return what();
    }
    std::packaged_task<void()> task([&] { attempt(what); });
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(std::move(task));
    }
    changed_.notify_one();
    done.get();
  }

  /// Nothing will be asked any more.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }

  // The others are for that thread itself, which holds the GIL.

  /// Does what it is asked for until that time has come, or nothing will be asked any more: true then.
  bool serve_until(std::chrono::steady_clock::time_point time) {
    while (std::chrono::steady_clock::now() < time) {
      std::packaged_task<void()> task;
      {
        const WithoutGil released;
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, time, [&] { return ended_ || !asked_.empty(); });
        if (asked_.empty()) return ended_;
        task = std::move(asked_.front());
        asked_.pop_front();
      }
      task();
    }
    return false;
  }

  /// Does it; what it throws is the failure.
  void attempt(const std::function<void()>& what) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      what();
    } catch (const abi::__forced_unwind&) {
      stay_here();
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }

  bool has_failed() const noexcept { return failure_ != nullptr; }

  /// For the next run. Returns what has failed in this one.
  std::exception_ptr begin_anew() {
    ended_ = false;
    return std::exchange(failure_, nullptr);
  }

 private:
  const std::thread::id id_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> asked_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace sepconv::python
