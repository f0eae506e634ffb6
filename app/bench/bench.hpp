// What the commands of `sepconv bench` share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stop_token>
#include <vector>

#include "../commands.hpp"

namespace sepconv::app {

/// Seconds of several runs.
struct Timing {
  double median = 0, least = 0, greatest = 0;

  /// Half the range between the fastest and the slowest run, as a part of the median.
  double spread() const { return median > 0 ? (greatest - least) / 2 / median : 0; }
};

/// Of `runs` calls of `seconds_of_run`, after one that does not count.
Timing time_runs(int runs, const std::function<double()>& seconds_of_run);

/// Of the seconds of several runs, the fastest and the slowest left out.
struct TrimmedMean {
  double mean = 0;
  double deviation = 0;  ///< the sample's standard deviation
};
/// Of at least three.
TrimmedMean trimmed_mean(std::vector<double> seconds);
/// Of `runs` calls. Throws Cancelled before one of them when `stop` is requested.
TrimmedMean time_trimmed(int runs, const std::stop_token& stop,
                         const std::function<double()>& seconds_of_run);

/// Seconds that `work` takes.
double seconds_of(const std::function<void()>& work);

void add_bench_conv(CLI::App& bench, Context& context);
void add_bench_stream(CLI::App& bench, Context& context);
void add_bench_transpose(CLI::App& bench, Context& context);

}  // namespace sepconv::app
