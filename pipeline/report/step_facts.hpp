// Derived figures of a run, shared by the summary, the JSON and the HTML report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/report/report.hpp"

namespace sepconv {

struct StepFacts {
  std::string name;
  double busy_seconds = 0;
  double hidden_fraction = 0;  ///< fraction of its busy time during which another step was busy
  std::int64_t bytes = 0;
  double operations = 0;
  double bytes_per_second = 0;
  double pixels_per_second = 0;
  /// Seconds at the machine's limits divided by busy time; empty if no limit is known: for codecs, and if
  /// nothing was measured.
  std::optional<double> share_of_limit{};
};
/// "42 %", or "-".
std::string limit_percent_text(const StepFacts& step);
/// The steps in the order in which a band passes them.
std::vector<StepFacts> step_facts(const RunReport& report, const RunLimits& limits);

/// The limits that a run of this plan is compared with, as text.
std::string limits_text(const Plan& plan, const RunLimits& limits);

/// The bottleneck of the run and how to relieve it, in a few sentences.
std::string advice(const RunReport& report, const RunLimits& limits);

}  // namespace sepconv
