// Best time of a function that all threads run simultaneously, over many rounds.
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
  /// Fraction of `seconds` for which the thread with the most processor time was running. Close to 1 without
  /// other processes, because a round lasts as long as its slowest thread; 1/2 if two threads alternated.
  double processor_share = 1;
};

/// Decides after each round whether another round is worth its time. Called from one thread at a time.
class Rounds {
 public:
  /// `max_cpu_seconds`: maximum processor time of a thread in this round.
  void end(double max_cpu_seconds) noexcept {
    const Clock::time_point now = Clock::now();
    if (count_++ > 0) {  // the first call only starts the threads together
      const double seconds = seconds_between(last_, now);
      unimproved_ = seconds < 0.99 * best_.seconds ? 0 : unimproved_ + 1;
      if (seconds < best_.seconds) best_ = {seconds, std::min(1.0, max_cpu_seconds / seconds)};
    } else {
      begin_ = now;
    }
    last_ = now;
    const double total = seconds_between(begin_, now);
    const bool converged = unimproved_ >= kUnimproved && !was_busy(best_.processor_share);
    done_ = (total > kMaxSeconds && count_ > kUnimproved) || (total > kMinSeconds && converged);
  }
  bool done() const noexcept { return done_; }
  const BestTime& best() const noexcept { return best_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_between(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  }

  static constexpr double kMinSeconds = 0.02, kMaxSeconds = 0.25;
  static constexpr int kUnimproved = 8;
  Clock::time_point begin_, last_;
  BestTime best_{.seconds = 1e30};
  int count_ = 0, unimproved_ = 0;
  bool done_ = false;
};

/// Processor time of this thread, in seconds.
inline double thread_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs rounds of `work(thread)` on all threads simultaneously until they no longer improve, and returns the
/// best. Processors and memory take some time to reach their speed, and other processes disturb single
/// rounds.
template <class Work>
BestTime best_round(ThreadPool& pool, Work&& work) {
  const int threads = pool.concurrency();
  std::vector<double> cpu_seconds(
      static_cast<std::size_t>(threads));  // processor time of each task in this round
  Rounds rounds;
  std::barrier round(threads, [&]() noexcept { rounds.end(*std::ranges::max_element(cpu_seconds)); });
  // One task per thread: each waits for all others at the barrier.
  pool.for_each(threads, [&](std::int64_t task, int thread) {
    for (round.arrive_and_wait(); !rounds.done(); round.arrive_and_wait()) {
      const double begin = thread_seconds();
      work(thread);
      cpu_seconds[static_cast<std::size_t>(task)] = thread_seconds() - begin;
    }
  });
  return rounds.best();
}

}  // namespace sepconv
