#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "bench.hpp"
#include "core/error.hpp"

namespace sepconv::app {

Timing time_runs(int runs, const std::function<double()>& seconds_of_run) {
  seconds_of_run();
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) seconds.push_back(seconds_of_run());
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {median, seconds.front(), seconds.back()};
}

TrimmedMean trimmed_mean(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto first = seconds.begin() + 1, last = seconds.end() - 1;
  const auto count = static_cast<double>(last - first);
  const double mean = std::accumulate(first, last, 0.0) / count;
  const double squares = std::accumulate(
      first, last, 0.0, [mean](double sum, double s) { return sum + (s - mean) * (s - mean); });
  return {mean, count > 1 ? std::sqrt(squares / (count - 1)) : 0};
}

std::string factor_text(const std::optional<double>& factor) {
  return factor ? fmt::format("{:.2f}", *factor) : "-";
}

std::string deviation_text(int runs, const TrimmedMean& time) {
  return runs > 3 ? fmt::format("{:.1f}%", time.deviation / time.mean * 100) : "-";
}

TrimmedMean time_trimmed(int runs, const std::stop_token& stop,
                         const std::function<double()>& seconds_of_run) {
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    if (stop.stop_requested()) throw Cancelled();
    seconds.push_back(seconds_of_run());
  }
  return trimmed_mean(std::move(seconds));
}

double seconds_of(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void for_each_part(std::int64_t bytes, Executor& executor,
                   const std::function<void(std::int64_t first, std::int64_t last)>& piece) {
  const std::int64_t part_bytes = round_up(ceil_div(bytes, std::int64_t{executor.concurrency()}), 64);
  executor.for_each(ceil_div(bytes, part_bytes), [&](std::int64_t index, int) {
    piece(index * part_bytes, std::min(bytes, (index + 1) * part_bytes));
  });
}

void copy_in_parts(const std::byte* from, std::byte* to, std::int64_t bytes, Executor& executor) {
  for_each_part(bytes, executor, [&](std::int64_t first, std::int64_t last) {
    std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first));
  });
}

}  // namespace sepconv::app
