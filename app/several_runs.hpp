// Results that are made in several runs: --resume, --discard, --create-only and --part.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job.hpp"
#include "sepconv/pipeline/plan/partial_job.hpp"
#include "sepconv/pipeline/plan/partial_state.hpp"

namespace sepconv::app {

struct SeveralRuns {
  bool resume = false, discard = false, create_only = false;
  std::pair<std::int64_t, std::int64_t> part{};  ///< of how many; 0: all
};
std::vector<CLI::Option*> add_several_runs_options(CLI::App& command, SeveralRuns& request);

/// The job that these ask for; of --create-only nothing is left to do.
FileJob prepare(const JobRequest& request, const SeveralRuns& several);

/// The job of --create-only and the parts of its result; makes nothing.
FileJob prepare_parts(const JobRequest& request);

/// To stderr: of a result in parts what it will not have, and unless quiet how many they may be.
void say_what_is_begun(const FileJob& job, const Reporting& reporting);

/// Says when a job with a partial result has failed what is left of it for the next command, if anything is.
std::function<std::string()> what_is_kept(const FileJob& job, const std::filesystem::path& output);

/// Warns of what is there of a result that is not complete, or throws IoError where that is all of this name.
void check_no_partial(const std::filesystem::path& output);

std::string describe_parts(const FileJob& job, std::int64_t count);

}  // namespace sepconv::app
