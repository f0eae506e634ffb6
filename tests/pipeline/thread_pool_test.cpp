#include "pipeline/machine/thread_pool.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "../support/threads.hpp"
#include "core/error.hpp"

using namespace sepconv;
using sepconv::test::baseline_thread_count;

TEST_CASE("every index runs once, whatever the number of threads and loops") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    CHECK(pool.concurrency() == threads);
    for (const std::int64_t count : {0, 1, 2, 17, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      pool.for_each(count, [&](std::int64_t index, int) { ++calls[static_cast<std::size_t>(index)]; });
      for (const auto& call_count : calls) CHECK(call_count == 1);
    }
  }
}

TEST_CASE("a worker runs one task at a time, also for several callers") {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> busy(3);
  std::atomic<bool> shared = false;
  const auto loop = [&] {
    pool.for_each(500, [&](std::int64_t, int worker) {
      auto& worker_busy = busy[static_cast<std::size_t>(worker)];
      if (worker_busy.fetch_add(1) != 0) shared = true;
      worker_busy.fetch_sub(1);
    });
  };
  { const std::jthread first(loop), second(loop), third(loop); }
  CHECK_FALSE(shared);
}

TEST_CASE("the first exception ends the loop and reaches the caller, and the pool stays usable") {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  std::latch both_run(2), failed(1);
  const auto task = [&](std::int64_t index, int) {
    ++calls;
    if (index > 1) return;
    both_run.arrive_and_wait();
    if (index == 0) throw std::runtime_error("task 0");
    failed.wait();
  };
  // After the failure one worker is free, and it takes this loop only after the first.
  const std::jthread second_caller([&] {
    both_run.wait();
    pool.for_each(1, [&](std::int64_t, int) { failed.count_down(); });
  });
  CHECK_THROWS_WITH(pool.for_each(100000, task), "task 0");
  CHECK(calls == 2);
  calls = 0;
  pool.for_each(10, [&](std::int64_t, int) { ++calls; });
  CHECK(calls == 10);
}

TEST_CASE("a stop ends loops with Cancelled") {
  for (const int threads : {1, 2}) {
    std::stop_source stop;
    ThreadPool pool(threads, stop.get_token());
    std::atomic<int> calls = 0;
    const auto task = [&](std::int64_t, int) {
      if (++calls == 5) stop.request_stop();
    };
    CHECK_THROWS_AS(pool.for_each(100000, task), Cancelled);
    if (threads == 1) CHECK(calls == 5);
    CHECK_THROWS_AS(pool.for_each(1, task), Cancelled);
  }
}

namespace {

/// Runs `check()` in a process of a separate user who may start `threads` threads. Returns its result, or -1
/// if the process was killed. Without root, the process can start no threads.
template <class Check>
int with_startable_threads(std::int64_t threads, const Check& check) {
  const pid_t child = fork();
  if (child == 0) {
    const auto separate_user =
        static_cast<uid_t>(20000 + getppid() % 40000);  // differs between concurrent runs of these tests
    alarm(240);                                         // ends a hang
    const auto max_processes = static_cast<rlim_t>(baseline_thread_count() + threads);
    const rlimit limit{max_processes, max_processes};
    if (geteuid() == 0 && (setgid(separate_user) != 0 || setuid(separate_user) != 0)) _exit(100);
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(101);
    _exit(check());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The number of working threads of a pool that wants 1000 and accepts fewer; 50 if the pool could not be
/// created.
int count_workers(int others) {
  try {
    ThreadPool pool({.threads = 1000, .others = others});
    std::barrier all(pool.concurrency());
    std::atomic<int> calls = 0;
    pool.for_each(pool.concurrency(), [&](std::int64_t, int worker) {
      all.arrive_and_wait();
      if (worker < pool.concurrency()) ++calls;
    });
    return calls;
  } catch (const Error&) {
    return 50;
  }
}

}  // namespace

TEST_CASE("a pool uses the available threads and leaves some to others") {
  if (geteuid() != 0) {
    WARN("skipped: only root can become a user with no other threads");
    return;
  }
  CHECK(with_startable_threads(10, [] { return count_workers(0); }) == 5);
  CHECK(with_startable_threads(10, [] { return count_workers(8); }) == 2);
  CHECK(with_startable_threads(1, [] { return count_workers(3); }) == 1);
  CHECK(with_startable_threads(2000, [] { return count_workers(3) == 1000 ? 1 : 0; }) == 1);
}

TEST_CASE("a pool without threads is an error, and so is one of too few where all are needed") {
  CHECK(with_startable_threads(0, [] { return count_workers(0); }) == 50);
  const auto require_all = [] {
    try {
      const ThreadPool pool(10);
      return 1;
    } catch (const LimitReached& error) {
      return std::string(error.what()).find("ulimit -u") != std::string::npos ? 2 : 3;
    }
  };
  CHECK(with_startable_threads(5, require_all) == 2);
}

TEST_CASE("a preferred loop is served before the rest of a loop that began earlier") {
  ThreadPool pool(1);
  std::atomic<bool> preferred_has_run = false, ran_before_end = false;
  std::jthread caller;
  constexpr std::int64_t kTasks = 10000;  // a bound of 10 s if it is served last
  pool.for_each(kTasks, [&](std::int64_t index, int) {
    if (index == 0)
      caller = std::jthread(
          [&] { pool.preferred().for_each(1, [&](std::int64_t, int) { preferred_has_run = true; }); });
    if (index == kTasks - 1) ran_before_end = preferred_has_run.load();
    if (!preferred_has_run) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  caller.join();
  CHECK(ran_before_end);
  CHECK(pool.preferred().concurrency() == 1);
}
