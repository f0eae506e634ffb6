// How long a thing takes that all threads do at once, by the best of many rounds.
#pragma once

#include <algorithm>
#include <barrier>
#include <chrono>

#include "sepconv/pipeline/machine/thread_pool.hpp"

namespace sepconv {

/// Decides after each round whether one more is worth its time. Called from one thread at a time.
class Rounds {
 public:
  void end() noexcept {
    const Clock::time_point now = Clock::now();
    if (count_++ > 0) {  // the first only brings the threads together
      const double seconds = since(last_, now);
      unimproved_ = seconds < 0.99 * best_ ? 0 : unimproved_ + 1;
      best_ = std::min(best_, seconds);
    } else {
      begin_ = now;
    }
    last_ = now;
    const double all = since(begin_, now);
    done_ =
        (all > kMostSeconds && count_ > kUnimproved) || (all > kLeastSeconds && unimproved_ >= kUnimproved);
  }
  bool done() const noexcept { return done_; }
  double best() const noexcept { return best_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  }

  static constexpr double kLeastSeconds = 0.02, kMostSeconds = 0.25;
  static constexpr int kUnimproved = 8;
  Clock::time_point begin_, last_;
  double best_ = 1e30;
  int count_ = 0, unimproved_ = 0;
  bool done_ = false;
};

/// Seconds of a round of `work(thread)` on all threads at once, the best when rounds have got no better for a
/// while: processors and memory take some time to come to their speed, and other work disturbs single rounds.
template <class Work>
double best_seconds(ThreadPool& pool, Work&& work) {
  const int threads = pool.concurrency();
  Rounds rounds;
  std::barrier round(threads, [&]() noexcept { rounds.end(); });
  // A task a thread: all of them wait for each other.
  pool.for_each(threads, [&](std::int64_t, int thread) {
    for (round.arrive_and_wait(); !rounds.done(); round.arrive_and_wait()) work(thread);
  });
  return rounds.best();
}

}  // namespace sepconv
