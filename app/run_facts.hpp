// The facts of a run that only the program has.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/job/file_job.hpp"
#include "pipeline/report/report.hpp"

namespace sepconv::app {

/// How this process was started, as shell input: one line for its working directory and one for its
/// arguments.
std::string command_line();

/// The facts of a completed run. `open` are the options that its input was opened with.
RunFacts run_facts(const RunReport& report, const ImageJob& job, const std::filesystem::path& input,
                   const OpenOptions& open, const std::filesystem::path& output);

}  // namespace sepconv::app
