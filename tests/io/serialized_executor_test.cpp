#include "io/serialized_executor.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "core/error.hpp"
#include "threaded_executor.hpp"

using namespace sepconv;

TEST_CASE("tasks run in their order, one at a time, whatever the number of threads") {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 100}) {
    ThreadedExecutor threads(4);
    SerializedExecutor serialized(threads);
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
  CHECK_THROWS_AS(SerializedExecutor(stopping).for_each(10'000, [&](std::int64_t, int) { ++done; }),
                  Cancelled);
  CHECK(done > 0);
  CHECK(done < 1000);
}
