// The HTML page of --report FILE.html: combines the report of a run with facts that only the program has.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/plan/file_job.hpp"
#include "pipeline/report/html_report.hpp"
#include "pipeline/run/run_report.hpp"

namespace sepconv::app {

/// How this process was started, as shell input: one line for its working directory and one for its
/// arguments.
std::string command_line();

/// Whether a report of this name is an HTML page.
bool is_html(const std::filesystem::path& report);

/// The HTML page of a completed run. `open` are the options that its input was opened with.
std::string html_page(const RunReport& report, const RunLimits& limits, const ImageJob& job,
                      const std::filesystem::path& input, const OpenOptions& open,
                      const std::filesystem::path& output, const PreviewCollector* pictures);

}  // namespace sepconv::app
