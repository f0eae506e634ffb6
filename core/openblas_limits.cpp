#include "core/openblas_limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

namespace sepconv {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kSlackBytes = 128 * kMiB;  // other threads may map this much meanwhile

std::int64_t stack_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 8 * kMiB;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::int64_t thread_count() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error ? 0 : std::distance(begin(tasks), end(tasks));
}

}  // namespace

std::int64_t free_address_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
}

int openblas_threads_at_load() {
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  // In the order in which OpenBLAS reads them.
  for (const char* const variable : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* const text = std::getenv(variable);
    if (const int threads = text != nullptr ? std::atoi(text) : 0; threads > 0)
      return std::min(threads, processors);
  }
  return processors;
}

std::int64_t openblas_address_bytes(int threads) {
  return threads * (kOpenBlasBufferBytes + stack_bytes()) + kSlackBytes;
}

int startable_threads(int threads) {
  const std::int64_t before = thread_count();
  int started = 0;
  {
    std::latch end(1);
    std::vector<std::jthread> waiting;
    waiting.reserve(static_cast<std::size_t>(threads));
    try {
      for (; started < threads; ++started) waiting.emplace_back([&end] { end.wait(); });
    } catch (const std::system_error&) {
    }
    end.count_down();
  }
  // A joined thread is counted for a moment more.
  for (int pause = 0; thread_count() > before && pause < 1000; ++pause)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return started;
}

}  // namespace sepconv
