#include "pipeline/machine/thread_pool.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <latch>
#include <stdexcept>
#include <string>

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
      for (const auto& number : calls) CHECK(number == 1);
    }
  }
}

TEST_CASE("a worker runs one task at a time, also for several callers") {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> busy(3);
  std::atomic<bool> shared = false;
  const auto loop = [&] {
    pool.for_each(500, [&](std::int64_t, int worker) {
      auto& mine = busy[static_cast<std::size_t>(worker)];
      if (mine.fetch_add(1) != 0) shared = true;
      mine.fetch_sub(1);
    });
  };
  { const std::jthread first(loop), second(loop), third(loop); }
  CHECK_FALSE(shared);
}

TEST_CASE("the first exception ends the loop and reaches the caller, and the pool works on") {
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
  // Of the two workers the one that failed is free, and comes to this loop after the first only.
  const std::jthread after([&] {
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

/// Runs `check()` in a process of a user of its own who may start so many threads. What it returns, or -1
/// where it did not end by itself. As who is not root: none, whatever the number.
template <class Check>
int with_startable_threads(std::int64_t threads, const Check& check) {
  const pid_t child = fork();
  if (child == 0) {
    const auto nobody_else = static_cast<uid_t>(20000 + getppid() % 40000);  // nor another run of these tests
    alarm(240);                                                              // a hang ends, too
    const auto most = static_cast<rlim_t>(baseline_thread_count() + threads);
    const rlimit limit{most, most};
    if (geteuid() == 0 && (setgid(nobody_else) != 0 || setuid(nobody_else) != 0)) _exit(100);
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(101);
    _exit(check());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// How many of 1000 workers a pool that would do with fewer has, all of which have work; 50: there was none.
int workers_of_1000(int others) {
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

TEST_CASE("a pool goes on with the threads that there are, and leaves some to others") {
  if (geteuid() != 0) {
    WARN("skipped: only root can become a user with no other threads");
    return;
  }
  CHECK(with_startable_threads(10, [] { return workers_of_1000(0); }) == 5);
  CHECK(with_startable_threads(10, [] { return workers_of_1000(8); }) == 2);
  CHECK(with_startable_threads(1, [] { return workers_of_1000(3); }) == 1);
  CHECK(with_startable_threads(2000, [] { return workers_of_1000(3) == 1000 ? 1 : 0; }) == 1);
}

TEST_CASE("a pool without threads is an error, and so is one of too few where all are needed") {
  CHECK(with_startable_threads(0, [] { return workers_of_1000(0); }) == 50);
  const auto all_or_none = [] {
    try {
      const ThreadPool pool(10);
      return 1;
    } catch (const LimitReached& error) {
      return std::string(error.what()).find("ulimit -u") != std::string::npos ? 2 : 3;
    }
  };
  CHECK(with_startable_threads(5, all_or_none) == 2);
}
