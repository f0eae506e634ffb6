// The closing summary of a run, for people and for machines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/device_rates.hpp"
#include "pipeline/machine/host_rates.hpp"
#include "pipeline/machine/page_cache_rate.hpp"
#include "pipeline/run/run_report.hpp"

namespace sepconv {

/// What a run is held against: its host's rates and those of the (first) GPU that computed. What was not
/// measured is 0.
struct RunLimits {
  HostRates host;
  PageCacheRate file{};
  DeviceRates device{};

  /// What the host's measuring had of its processors, at the smallest.
  double processor_share() const noexcept { return std::min(host.processor_share, file.processor_share); }
};

/// Runs shorter than this are too short to be compared with the limits of the machine.
inline constexpr double kShortRunSeconds = 1;

/// Measures what a run of kShortRunSeconds or more needs, now: in some tenths of a second for the host and as much
/// for a GPU, inside the plan's ceilings, of which the host's is taken for 4 MiB at least. A shorter run is
/// not worth it, and what cannot be measured now is 0.
RunLimits measure_limits(const RunReport& report);

/// One line: time, rate, bands, device and peak memory. A line for each warning follows.
std::string brief_summary(const RunReport& report);

/// Several lines: per step busy time, rate, share of the limit, how much of the copying was hidden, the
/// bottleneck, peak memory.
std::string summary(const RunReport& report, const RunLimits& limits);

/// The same facts and the plan as JSON text; schema in docs/formats.md.
std::string to_json(const RunReport& report, const RunLimits& limits);

}  // namespace sepconv
