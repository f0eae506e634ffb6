// Long work without the GIL that Ctrl-C can interrupt.
#pragma once

#include <chrono>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "calling_thread.hpp"
#include "without_gil.hpp"

namespace sepconv::python {

/// Calls work(stop_token) on a separate thread. Meanwhile this thread releases the GIL, executes the calls
/// queued in CallingThread::next(), and ten times a second checks for signals and calls poll(). An exception
/// of a signal handler, of a queued call or of poll() requests the stop, and is thrown instead of the
/// exception of `work`.
template <class Work, class Poll>
void run_interruptible(const Work& work, const Poll& poll) {
  const ActiveWorkScope active_work;
  // A nested run, begun by a queued call, uses a separate CallingThread.
  const std::shared_ptr<CallingThread> calling_thread =
      std::exchange(CallingThread::next(), std::make_shared<CallingThread>());
  std::exception_ptr work_failure;
  {
    std::jthread worker([&](const std::stop_token& stop) {
      try {
        work(stop);
      } catch (...) {
        work_failure = std::current_exception();
      }
      calling_thread->end();
    });
    while (!calling_thread->serve_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(100))) {
      if (calling_thread->has_failed()) continue;
      try {
        calling_thread->attempt([&] {
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
          check_interpreter_alive();
          poll();
        });
      } catch (...) {
        worker.request_stop();
      }
    }
  }
  CallingThread::next() = calling_thread;
  if (const std::exception_ptr failure = calling_thread->reset()) std::rethrow_exception(failure);
  if (work_failure) std::rethrow_exception(work_failure);
}

template <class Work>
void run_interruptible(const Work& work) {
  run_interruptible(work, [] {});
}

}  // namespace sepconv::python
