// Long work without the GIL that Ctrl-C ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "bindings.hpp"

namespace sepconv::python {

/// Work in hand, which ends before the interpreter does: a thread that has given up the GIL then cannot take
/// it again, and Python ends it in the midst of C++, which aborts.
struct WorkInHand {
  std::mutex mutex;
  std::condition_variable ended;
  int count = 0;
  bool interpreter_ends = false;

  static WorkInHand& all() {
    static auto* const work = new WorkInHand();  // outlives threads that nobody joins
    return *work;
  }
};

class InHand {
 public:
  InHand() {
    WorkInHand& all = WorkInHand::all();
    const std::lock_guard lock(all.mutex);
    ++all.count;
  }
  InHand(const InHand&) = delete;
  InHand& operator=(const InHand&) = delete;
  ~InHand() {
    WorkInHand& all = WorkInHand::all();
    const std::lock_guard lock(all.mutex);
    --all.count;
    all.ended.notify_all();
  }

  /// False, and SystemExit is raised, which a thread ends with silently, where the interpreter ends.
  bool goes_on() const {
    WorkInHand& all = WorkInHand::all();
    const std::lock_guard lock(all.mutex);
    if (all.interpreter_ends) PyErr_SetNone(PyExc_SystemExit);
    return !all.interpreter_ends;
  }
};

/// Calls work(stop_token) in a thread of its own while this one, which holds the GIL, gives it up and asks
/// for signals ten times a second, and then turn(), also when the work is done. Where a signal has raised an
/// exception, or turn() has and returns false, the token is told to stop, and the exception is thrown in
/// place of what `work` throws then.
template <class Work, class Turn>
void run_interruptible(const Work& work, const Turn& turn) {
  const InHand in_hand;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::exception_ptr failed;
  std::jthread worker([&](const std::stop_token& stop) {
    try {
      work(stop);
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    finished.notify_one();
  });
  bool raised = false;
  for (bool ended = false; !ended;) {
    {
      const nb::gil_scoped_release released;
      std::unique_lock lock(mutex);
      ended = finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return done; });
    }
    if (raised || (ended && failed) ||
        ((ended || (PyErr_CheckSignals() == 0 && in_hand.goes_on())) && turn()))
      continue;
    raised = true;
    worker.request_stop();
  }
  worker.join();
  if (raised) throw nb::python_error();
  if (failed) std::rethrow_exception(failed);
}

template <class Work>
void run_interruptible(const Work& work) {
  run_interruptible(work, [] { return true; });
}

}  // namespace sepconv::python
