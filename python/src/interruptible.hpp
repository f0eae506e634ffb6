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

/// Calls work(stop_token) in a thread of its own while this one, which holds the GIL, gives it up and asks
/// for signals ten times a second, and then turn(), also when the work is done. Where a signal has raised an
/// exception, or turn() has and returns false, the token is told to stop, and the exception is thrown in
/// place of what `work` throws then.
template <class Work, class Turn>
void run_interruptible(const Work& work, const Turn& turn) {
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
    if (raised || (ended && failed) || ((ended || PyErr_CheckSignals() == 0) && turn())) continue;
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
