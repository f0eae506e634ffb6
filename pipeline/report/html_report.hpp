// The report of a run as one self-contained HTML page: no other file, no network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/report/report.hpp"

namespace sepconv {

class PreviewCollector;

/// Inputs of the page besides the report. Texts are plain text and are escaped.
struct PageFacts {
  using Named = std::vector<std::pair<std::string, std::string>>;
  std::string source, result;  ///< names of the files
  Named plan;                  ///< plan_facts()
  Named of_source, of_result;  ///< properties of the source file and of the result file
  std::string command;         ///< command line that repeats the run
  /// The observer of the run; null for a page without pictures.
  const PreviewCollector* pictures = nullptr;
};
std::string to_html(const RunReport& report, const RunLimits& limits, const PageFacts& facts);

}  // namespace sepconv
