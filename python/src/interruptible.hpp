// Long work without the GIL that Ctrl-C ends.
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

/// Calls work(stop_token) in a thread of its own while this one, which holds the GIL, gives it up, does what
/// CallingThread::next() is asked for, and asks for signals ten times a second, and then turn(). What a
/// signal has raised, or any of these throws, tells the token to stop, and is thrown in place of what `work`
/// throws then.
template <class Work, class Turn>
void run_interruptible(const Work& work, const Turn& turn) {
  const InHand in_hand;
  // A run that begins within what this thread is asked for is asked apart.
  const std::shared_ptr<CallingThread> here =
      std::exchange(CallingThread::next(), std::make_shared<CallingThread>());
  std::exception_ptr failed;
  {
    std::jthread worker([&](const std::stop_token& stop) {
      try {
        work(stop);
      } catch (...) {
        failed = std::current_exception();
      }
      here->end();
    });
    while (!here->serve_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(100))) {
      if (here->has_failed()) continue;
      try {
        here->attempt([&] {
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
          check_interpreter_goes_on();
          turn();
        });
      } catch (...) {
        worker.request_stop();
      }
    }
  }
  CallingThread::next() = here;
  if (const std::exception_ptr failure = here->begin_anew()) std::rethrow_exception(failure);
  if (failed) std::rethrow_exception(failed);
}

template <class Work>
void run_interruptible(const Work& work) {
  run_interruptible(work, [] {});
}

}  // namespace sepconv::python
