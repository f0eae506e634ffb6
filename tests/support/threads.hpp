// How many threads this process has, for tests that none is left behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <thread>

namespace sepconv::test {

inline std::int64_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// To compare with later. A first thread is made and ended before: the thread sanitizer starts one of its own
/// with it.
inline std::int64_t threads_at_rest() {
  std::jthread([] {}).join();
  return thread_count();
}

/// Threads that were told to end may take a moment to leave /proc.
inline bool threads_return_to(std::int64_t expected) {
  for (int attempt = 0; attempt < 12000; ++attempt) {
    if (thread_count() <= expected) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace sepconv::test
