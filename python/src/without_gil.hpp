// The GIL is given up while the library computes, and taken again in no interpreter that has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bindings.hpp"

namespace sepconv::python {

/// Work in hand, which ends before the interpreter does: a thread that asks for the GIL afterwards is ended
/// by Python in the midst of C++, which aborts the process.
struct WorkInHand {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;                  ///< works
  int returning = 0;              ///< threads of them that ask for the GIL
  bool interpreter_ends = false;  ///< other threads begin nothing
  bool given_up = false;          ///< what is in hand stays where it is
  std::thread::id ending;         ///< the thread that ends it, which may still compute

  static WorkInHand& all() {
    static auto* const work = new WorkInHand();  // outlives threads that nobody joins
    return *work;
  }
  bool goes_on() const { return !interpreter_ends || std::this_thread::get_id() == ending; }
};

/// Throws SystemExit, which a thread ends with silently, where the interpreter ends: for what calls Python in
/// the midst of C++.
inline void check_interpreter_goes_on() {
  WorkInHand& all = WorkInHand::all();
  const std::lock_guard lock(all.mutex);
  if (all.goes_on()) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

/// For a thread that Python ends in the midst of C++.
[[noreturn]] inline void stay_here() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

class InHand {
 public:
  InHand() {
    check_interpreter_goes_on();
    const std::lock_guard lock(all_.mutex);
    ++all_.count;
  }
  InHand(const InHand&) = delete;
  InHand& operator=(const InHand&) = delete;
  ~InHand() {
    const std::lock_guard lock(all_.mutex);
    --all_.count;
    all_.changed.notify_all();
  }

 private:
  WorkInHand& all_ = WorkInHand::all();
};

/// This thread has no GIL while one of these lives. Where the interpreter ends it keeps it; and where the
/// interpreter has not waited for this thread, the thread stays here, as CPython's own do from 3.14 on.
class WithoutGil {
 public:
  WithoutGil() {
    {
      const std::lock_guard lock(all_.mutex);
      if (!all_.goes_on()) return;
      ++all_.count;
    }
    state_ = PyEval_SaveThread();
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    if (state_ == nullptr) return;
    {
      std::unique_lock lock(all_.mutex);
      if (all_.given_up && !all_.goes_on()) {
        lock.unlock();
        stay_here();
      }
      ++all_.returning;
    }
    PyEval_RestoreThread(state_);
    const std::lock_guard lock(all_.mutex);
    --all_.returning;
    --all_.count;
    all_.changed.notify_all();
  }

 private:
  WorkInHand& all_ = WorkInHand::all();
  PyThreadState* state_ = nullptr;
};

/// Before the interpreter ends: work in hand is told so and waited for, as long as a user would. Threads that
/// ask for the GIL already get it, as this one has it not.
inline void end_work() {
  WorkInHand& all = WorkInHand::all();
  PyThreadState* const state = PyEval_SaveThread();
  {
    std::unique_lock lock(all.mutex);
    all.interpreter_ends = true;
    all.ending = std::this_thread::get_id();
    all.given_up = !all.changed.wait_for(lock, std::chrono::seconds(5), [&] { return all.count == 0; });
    all.changed.wait(lock, [&] { return all.returning == 0; });
  }
  PyEval_RestoreThread(state);
}

}  // namespace sepconv::python
