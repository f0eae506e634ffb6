// Releases the GIL while the library computes, and does not reacquire it after the interpreter has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bindings.hpp"

namespace sepconv::python {

/// Active work, which must end before the interpreter does: Python would terminate a thread that acquires the
/// GIL later within C++ code, which aborts the process.
struct ActiveWork {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;                  ///< number of active work items
  int returning = 0;              ///< threads that are acquiring the GIL again
  bool interpreter_ends = false;  ///< other threads must not begin work
  bool timed_out = false;         ///< active work was not finished in time; its threads block forever
  std::thread::id ending;         ///< the thread that ends the interpreter; it may still compute

  static ActiveWork& instance() {
    static auto* const work = new ActiveWork();  // never destroyed, because detached threads may outlive it
    return *work;
  }
  bool may_continue() const { return !interpreter_ends || std::this_thread::get_id() == ending; }
};

/// Throws SystemExit, which ends a thread silently, if the interpreter is ending. Call before calling Python
/// from C++.
inline void check_interpreter_alive() {
  ActiveWork& work = ActiveWork::instance();
  const std::lock_guard lock(work.mutex);
  if (work.may_continue()) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

/// Blocks a thread that Python would terminate within C++ code.
[[noreturn]] inline void block_forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

class ActiveWorkScope {
 public:
  ActiveWorkScope() {
    check_interpreter_alive();
    const std::lock_guard lock(work_.mutex);
    ++work_.count;
  }
  ActiveWorkScope(const ActiveWorkScope&) = delete;
  ActiveWorkScope& operator=(const ActiveWorkScope&) = delete;
  ~ActiveWorkScope() {
    const std::lock_guard lock(work_.mutex);
    --work_.count;
    work_.changed.notify_all();
  }

 private:
  ActiveWork& work_ = ActiveWork::instance();
};

/// Releases the GIL for the lifetime of the object. Keeps the GIL if the interpreter is ending. If the
/// interpreter has stopped waiting for this thread, the destructor blocks forever, as CPython does from 3.14
/// on.
class WithoutGil {
 public:
  WithoutGil() {
    {
      const std::lock_guard lock(work_.mutex);
      if (!work_.may_continue()) return;
      ++work_.count;
    }
    state_ = PyEval_SaveThread();
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    if (state_ == nullptr) return;
    {
      std::unique_lock lock(work_.mutex);
      if (work_.timed_out && !work_.may_continue()) {
        lock.unlock();
        block_forever();
      }
      ++work_.returning;
    }
    PyEval_RestoreThread(state_);
    const std::lock_guard lock(work_.mutex);
    --work_.returning;
    --work_.count;
    work_.changed.notify_all();
  }

 private:
  ActiveWork& work_ = ActiveWork::instance();
  PyThreadState* state_ = nullptr;
};

/// Call before the interpreter ends: signals active work and waits for it, up to 5 seconds. Threads that are
/// already acquiring the GIL get it, because this thread releases it.
inline void end_work() {
  ActiveWork& work = ActiveWork::instance();
  PyThreadState* const state = PyEval_SaveThread();
  {
    std::unique_lock lock(work.mutex);
    work.interpreter_ends = true;
    work.ending = std::this_thread::get_id();
    work.timed_out = !work.changed.wait_for(lock, std::chrono::seconds(5), [&] { return work.count == 0; });
    work.changed.wait(lock, [&] { return work.returning == 0; });
  }
  PyEval_RestoreThread(state);
}

}  // namespace sepconv::python
