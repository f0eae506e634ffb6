// Results that are computed in several runs: --resume, --discard, --create-only and --part.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job.hpp"
#include "pipeline/job/checkpoint.hpp"

namespace sepconv::app {

struct ResumeOptions {
  bool resume = false, discard = false, create_only = false;
  std::pair<std::int64_t, std::int64_t> part{};  ///< {K, N}: part K of N; N = 0: the whole result
};
void add_resume_options(CLI::App& command, ResumeOptions& request);

/// Plans the job that these options request. With --create-only it creates the output and leaves no work.
ImageJob prepare(const RunArguments& request, const ResumeOptions& resume_options);

/// Plans the job of --create-only and its parts without creating the output.
ImageJob prepare_parts(const RunArguments& request);

/// Prints the warnings of the plan to stderr, and unless quiet the possible number of parts.
void report_checkpoint(const ImageJob& job, const Verbosity& reporting);

/// The returned function describes, after a failure, the saved work that a later run can continue; "" if no
/// work is saved.
std::function<std::string()> describe_saved_work(const ImageJob& job, const std::filesystem::path& output);

/// Warns of an incomplete result if `output` also exists. Throws IoError if only the incomplete result
/// exists.
void check_no_checkpoint(const std::filesystem::path& output);

/// The work of each of `count` parts and the additional cost of splitting the job, as text.
std::string describe_parts(const ImageJob& job, std::int64_t count);

}  // namespace sepconv::app
