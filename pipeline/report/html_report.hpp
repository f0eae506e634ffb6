// The report of a run as one page of HTML that needs nothing else: no file, no network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/report.hpp"

namespace sepconv {

class PreviewCollector;

/// What there is besides the report itself. Texts are shown as they are: whatever they hold, it is not HTML.
struct PageFacts {
  using Named = std::vector<std::pair<std::string, std::string>>;
  std::string source, result;  ///< names of the files
  Named plan;                  ///< plan_facts()
  Named of_source, of_result;  ///< what the files say of themselves
  std::string command;         ///< that does it again
  /// The observer of the run; null: there are no pictures.
  const PreviewCollector* pictures = nullptr;
};
std::string to_html(const RunReport& report, const RunLimits& limits, const PageFacts& facts);

}  // namespace sepconv
