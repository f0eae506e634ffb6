// The number of threads of this process, for tests that no thread is left.
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

/// The thread count to compare with later. Starts and joins a thread first, because the thread sanitizer
/// starts its own with the first one.
inline std::int64_t baseline_thread_count() {
  std::jthread([] {}).join();
  return thread_count();
}

/// Waits up to a minute, because ending threads remain in /proc for a moment.
inline bool wait_for_thread_count(std::int64_t expected) {
  for (int attempt = 0; attempt < 12000; ++attempt) {
    if (thread_count() <= expected) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace sepconv::test
