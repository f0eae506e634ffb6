#include "sepconv/pipeline/thread_pool.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>

#include "sepconv/core/error.hpp"

using namespace sepconv;

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
  const auto task = [&](std::int64_t index, int) {
    ++calls;
    if (index == 3) throw std::runtime_error("task 3");
  };
  CHECK_THROWS_WITH(pool.for_each(100000, task), "task 3");
  CHECK(calls < 100000);
  calls = 0;
  pool.for_each(10, [&](std::int64_t, int) { ++calls; });
  CHECK(calls == 10);
}

TEST_CASE("a stop ends loops with Cancelled") {
  std::stop_source stop;
  ThreadPool pool(2, stop.get_token());
  std::atomic<int> calls = 0;
  const auto task = [&](std::int64_t, int) {
    if (++calls == 5) stop.request_stop();
  };
  CHECK_THROWS_AS(pool.for_each(100000, task), Cancelled);
  CHECK(calls < 100);
  CHECK_THROWS_AS(pool.for_each(1, task), Cancelled);
}
