// The drawings of a report's page, as SVG inside of HTML: they stretch to the width that there is, and what
// is written at them is HTML. Colours are classes of html_report_assets.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/report/frequency_response.hpp"
#include "pipeline/report/run_pictures.hpp"
#include "pipeline/run/run_report.hpp"

namespace sepconv {

/// Text as it may stand in HTML and in quotes there.
std::string html_text(std::string_view text);

/// A lane a step and a block a band; blocks that would be narrower than can be seen are drawn as one.
std::string timeline_drawing(const RunReport& report);

/// What was resident over time, with lines for what was planned and for the ceiling.
std::string memory_drawing(const RunReport& report);
/// Whether the ceiling is in that drawing: far above what was held it would press that down to a line.
bool draws_ceiling(const RunReport& report);

std::string histogram_drawing(const Histogram& histogram, std::string_view of_what);

/// Taps as bars, or magnitudes as lines, those along y of another colour and dashed; left out where they are
/// the same.
std::string taps_drawing(const ChainResponse& response);
std::string frequencies_drawing(const ChainResponse& response);

/// Four digits, and no exponent for what is near 1.
std::string short_number(double value);

}  // namespace sepconv
