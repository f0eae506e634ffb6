// The summary of a run, as text and as JSON.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device/device_rates.hpp"
#include "pipeline/machine/host_rates.hpp"
#include "pipeline/machine/page_cache_rate.hpp"
#include "pipeline/run/run_report.hpp"

namespace sepconv {

/// The machine's limits that a run is compared with: the rates of the host and of the first GPU used. Values
/// that were not measured are 0.
struct RunLimits {
  HostRates host;
  PageCacheRate file{};
  DeviceRates device{};

  /// Minimum fraction of processor time available during the host measurements.
  double processor_share() const noexcept { return std::min(host.processor_share, file.processor_share); }
};

/// Runs shorter than this are too short to be compared with the limits of the machine.
inline constexpr double kShortRunSeconds = 1;

/// Measures the limits for a run of kShortRunSeconds or more, in a few tenths of a second each for host and
/// GPU. Uses memory within the plan's ceilings, but at least 4 MiB on the host. Returns zeros for shorter
/// runs and for values that cannot be measured.
RunLimits measure_limits(const RunReport& report);

/// One line: time, rate, bands, device and peak memory. A line for each warning follows.
std::string brief_summary(const RunReport& report);

/// Several lines: busy time, rate and share of the limit of each step, the fraction of hidden copying, the
/// bottleneck and peak memory.
std::string summary(const RunReport& report, const RunLimits& limits);

/// What only the caller of a run knows of it. Texts are plain text.
struct RunFacts {
  using Named = std::vector<std::pair<std::string, std::string>>;
  std::string source, result;  ///< names of the files
  Named plan;                  ///< plan_facts()
  Named of_source, of_result;  ///< properties of the source file and of the result file
  std::string command;         ///< command line that repeats the run
};

/// The same facts and the plan as JSON text; schema in docs/formats.md. With `facts` it also has these and the
/// chain's response, which to_html() shows.
std::string to_json(const RunReport& report, const RunLimits& limits, const RunFacts* facts = nullptr);

}  // namespace sepconv
