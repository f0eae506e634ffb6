// What there is to say of a run: what the summary, the JSON and the page have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/report/report.hpp"

namespace sepconv {

struct StepFacts {
  std::string name;
  double busy_seconds = 0;
  double hidden_share = 0;  ///< of its busy time, while another step was busy too
  std::int64_t bytes = 0;
  double operations = 0;
  double bytes_per_second = 0;
  double pixels_per_second = 0;
  /// The seconds that it would take at the machine's limits, over its busy time; nothing where no limit of
  /// what it does is known: where it codes, and where nothing was measured.
  std::optional<double> share_of_limit{};
};
/// "42 %", or "-".
std::string share_text(const StepFacts& step);
/// In the order in which a band passes the steps.
std::vector<StepFacts> step_facts(const RunReport& report, const RunLimits& limits);

/// The limits that a run of this plan is held against.
std::string limits_text(const Plan& plan, const RunLimits& limits);

/// What bounds the run and what would help, in a few sentences.
std::string advice(const RunReport& report, const RunLimits& limits);

}  // namespace sepconv
