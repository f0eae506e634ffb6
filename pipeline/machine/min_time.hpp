// How long a thing takes that all threads do at once, by the best of many rounds.
#pragma once

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <vector>

#include "pipeline/machine/host_rates.hpp"
#include "pipeline/machine/thread_pool.hpp"

namespace sepconv {

struct BestTime {
  double seconds = 0;
  /// For which part of it the thread that had it longest had a processor: close to 1 where there is no other
  /// work, since a round is as long as its slowest thread works; 1/2 where two threads took turns.
  double processor_share = 1;
};

/// Decides after each round whether one more is worth its time. Called from one thread at a time.
class Rounds {
 public:
  /// `longest`: for which one of the threads had a processor.
  void end(double longest) noexcept {
    const Clock::time_point now = Clock::now();
    if (count_++ > 0) {  // the first only brings the threads together
      const double seconds = since(last_, now);
      unimproved_ = seconds < 0.99 * best_.seconds ? 0 : unimproved_ + 1;
      if (seconds < best_.seconds) best_ = {seconds, std::min(1.0, longest / seconds)};
    } else {
      begin_ = now;
    }
    last_ = now;
    const double all = since(begin_, now);
    const bool good = unimproved_ >= kUnimproved && !was_busy(best_.processor_share);
    done_ = (all > kMaxSeconds && count_ > kUnimproved) || (all > kMinSeconds && good);
  }
  bool done() const noexcept { return done_; }
  const BestTime& best() const noexcept { return best_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  }

  static constexpr double kMinSeconds = 0.02, kMaxSeconds = 0.25;
  static constexpr int kUnimproved = 8;
  Clock::time_point begin_, last_;
  BestTime best_{.seconds = 1e30};
  int count_ = 0, unimproved_ = 0;
  bool done_ = false;
};

/// Seconds for which this thread has had a processor.
inline double thread_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A round of `work(thread)` on all threads at once, the best when rounds have got no better for a while:
/// processors and memory take some time to come to their speed, and other work disturbs single rounds.
template <class Work>
BestTime best_round(ThreadPool& pool, Work&& work) {
  const int threads = pool.concurrency();
  std::vector<double> had(static_cast<std::size_t>(threads));  // of a processor, in this round
  Rounds rounds;
  std::barrier round(threads, [&]() noexcept { rounds.end(*std::ranges::max_element(had)); });
  // A task a thread: all of them wait for each other.
  pool.for_each(threads, [&](std::int64_t task, int thread) {
    for (round.arrive_and_wait(); !rounds.done(); round.arrive_and_wait()) {
      const double begin = thread_seconds();
      work(thread);
      had[static_cast<std::size_t>(task)] = thread_seconds() - begin;
    }
  });
  return rounds.best();
}

}  // namespace sepconv
