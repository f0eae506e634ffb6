#include "io/limited_executor.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "core/error.hpp"
#include "threaded_executor.hpp"

using namespace sepconv;

TEST_CASE("tasks run in their order, one at a time, whatever the number of threads") {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 100}) {
    ThreadedExecutor threads(4);
    LimitedExecutor serialized(threads, 1);
    CHECK(serialized.concurrency() == 1);
    std::vector<std::int64_t> order;
    std::atomic<int> running = 0;
    bool one_at_a_time = true, first_worker = true;
    serialized.for_each(count, [&](std::int64_t index, int worker) {
      one_at_a_time &= ++running == 1;
      first_worker &= worker == 0;
      order.push_back(index);
      --running;
    });
    CHECK((one_at_a_time && first_worker));
    REQUIRE(std::ssize(order) == count);
    for (std::int64_t index = 0; index < count; ++index)
      CHECK(order[static_cast<std::size_t>(index)] == index);
  }
}

TEST_CASE("an executor that is stopped ends a loop of many tasks early") {
  class Stopping final : public Executor {
   public:
    int concurrency() const noexcept override { return 1; }
    void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
      if (++loops_ > 3) throw Cancelled();
      for (std::int64_t index = 0; index < count; ++index) task(index, 0);
    }

   private:
    int loops_ = 0;
  } stopping;
  std::int64_t done = 0;
  CHECK_THROWS_AS(LimitedExecutor(stopping, 1).for_each(10'000, [&](std::int64_t, int) { ++done; }),
                  Cancelled);
  CHECK(done > 0);
  CHECK(done < 1000);
}

TEST_CASE("tasks run at most as many at a time as the limit, each once, and no two with one worker") {
  for (const int limit : {2, 3, 8}) {
    ThreadedExecutor threads(6);
    LimitedExecutor limited(threads, limit);
    CHECK(limited.concurrency() == limit);
    constexpr int kTasks = 1000;
    std::vector<std::atomic<int>> runs(kTasks), users(static_cast<std::size_t>(limit));
    std::atomic<int> running = 0;
    std::atomic<bool> within_limit = true, own_worker = true;
    limited.for_each(kTasks, [&](std::int64_t index, int worker) {
      if (++running > limit) within_limit = false;
      if (++users[static_cast<std::size_t>(worker)] > 1) own_worker = false;
      ++runs[static_cast<std::size_t>(index)];
      --users[static_cast<std::size_t>(worker)];
      --running;
    });
    CHECK((within_limit && own_worker));
    for (const std::atomic<int>& count : runs) CHECK(count == 1);
  }
}

TEST_CASE("the first error of a task ends a limited loop") {
  ThreadedExecutor threads(4);
  CHECK_THROWS_WITH(LimitedExecutor(threads, 3)
                        .for_each(100,
                                  [](std::int64_t index, int) {
                                    if (index == 7) throw Error("the seventh");
                                  }),
                    "the seventh");
}
