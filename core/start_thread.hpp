// Starts threads, with a clear error if the system refuses.
#pragma once

#include <chrono>
#include <system_error>
#include <thread>

#include "core/error.hpp"

namespace sepconv {

/// Runs a copy of `work` in a new thread. Throws LimitReached if the system refuses. A thread that has just
/// been joined may still count towards the limit, so this retries for some tenths of a second.
template <class Work>
std::jthread start_thread(const Work& work) {
  for (std::chrono::milliseconds pause{1}; pause.count() < 256; pause *= 2) {
    try {
      return std::jthread(work);
    } catch (const std::system_error&) {
      std::this_thread::sleep_for(pause);
    }
  }
  throw LimitReached(
      "a thread could not be started: the limit on processes (ulimit -u) or on memory (ulimit -v) is "
      "reached; raise it or give fewer PlanOptions::threads");
}

}  // namespace sepconv
