// Threads, and the sentence for when there is none to be had.
#pragma once

#include <chrono>
#include <system_error>
#include <thread>

#include "core/error.hpp"

namespace sepconv {

/// Runs a copy of `work` in a thread of its own. Throws LimitReached where the system gives none. One that
/// has just been joined may still count for a moment, so that it is asked for some tenths of a second.
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
