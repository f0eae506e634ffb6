// The drawings of a report page, as SVG in HTML. They stretch to the available width; labels are HTML.
// Colours are CSS classes of html_report_assets.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/report/frequency_response.hpp"
#include "pipeline/report/preview_collector.hpp"
#include "pipeline/run/run_report.hpp"

namespace sepconv {

/// Text escaped for HTML content and attribute values.
std::string html_text(std::string_view text);

/// One lane per step and one block per band; adjacent blocks too narrow to see are merged.
std::string timeline_drawing(const RunReport& report);

/// Resident memory over time, with lines for the planned memory and the ceiling.
std::string memory_drawing(const RunReport& report);
/// Whether memory_drawing() shows the ceiling. It does not if the ceiling is far above the memory used.
bool draws_ceiling(const RunReport& report);

std::string histogram_drawing(const Histogram& histogram, std::string_view of_what);

/// Taps as bars, or magnitudes as lines. Those along y have another colour and are dashed; they are omitted
/// if equal to those along x.
std::string taps_drawing(const ChainResponse& response);
std::string frequencies_drawing(const ChainResponse& response);

/// Four significant digits, without exponent for moderate values.
std::string short_number(double value);

}  // namespace sepconv
