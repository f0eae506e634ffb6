// What run, plan and transpose have in common: the typed words of a job from file to file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device_choice.hpp"
#include "options.hpp"
#include "sepconv/pipeline/plan/file_job.hpp"

namespace sepconv::app {

struct JobRequest {
  std::filesystem::path input, output;
  std::vector<std::string> stages;
  Chain chain;  ///< of these stages, or of the plan's
  FileOptions files;
  RunOptions options{{}, {.smaller_plans = true}};
  std::filesystem::path plan_file;
  std::optional<PlanRecord> plan;  ///< of that file
};
/// IN and OUT.
void add_file_options(CLI::App& command, JobRequest& request);
/// The options of input, layout, device and limits.
void add_job_settings(CLI::App& command, JobRequest& request);
/// IN, OUT, STAGE... and the options.
void add_job_options(CLI::App& command, JobRequest& request);

/// plan_file() as the request says.
FileJob prepare(const JobRequest& request);

/// IN, the plan, and the files that the chain's stages read.
TakenFiles files_read_by(const JobRequest& request);

}  // namespace sepconv::app
