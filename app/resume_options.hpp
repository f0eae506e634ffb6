// Results that are made in several runs: --resume, --discard, --create-only and --part.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job.hpp"
#include "pipeline/plan/checkpoint_job.hpp"
#include "pipeline/plan/checkpoint_state.hpp"

namespace sepconv::app {

struct ResumeOptions {
  bool resume = false, discard = false, create_only = false;
  std::pair<std::int64_t, std::int64_t> part{};  ///< of how many; 0: all
};
std::vector<CLI::Option*> add_several_runs_options(CLI::App& command, ResumeOptions& request);

/// The job that these ask for; of --create-only nothing is left to do.
ImageJob prepare(const RunArguments& request, const ResumeOptions& several);

/// The job of --create-only and the parts of its result; makes nothing.
ImageJob prepare_parts(const RunArguments& request);

/// To stderr: of a result in parts what it will not have, and unless quiet how many they may be.
void report_checkpoint(const ImageJob& job, const Verbosity& reporting);

/// Says when a job with a partial result has failed what is left of it for the next command, if anything is.
std::function<std::string()> describe_checkpoint(const ImageJob& job, const std::filesystem::path& output);

/// Warns of what is there of a result that is not complete, or throws IoError where that is all of this name.
void check_no_partial(const std::filesystem::path& output);

std::string describe_parts(const ImageJob& job, std::int64_t count);

}  // namespace sepconv::app
