// The page that --report FILE.html makes: what the program knows besides the run's report.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/plan/file_job.hpp"
#include "pipeline/report/html_report.hpp"
#include "pipeline/run/run_report.hpp"

namespace sepconv::app {

/// How this process was started: a line for its folder, and one for its words, as a shell takes them.
std::string command_line();

/// Whether a report of this name is a page.
bool is_page(const std::filesystem::path& report);

/// After the run of the job. `open` is how its input was opened.
std::string page_of(const RunReport& report, const RunLimits& limits, const ImageJob& job,
                    const std::filesystem::path& input, const OpenOptions& open,
                    const std::filesystem::path& output, const PreviewCollector* pictures);

}  // namespace sepconv::app
