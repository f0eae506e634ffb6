// The arguments of a job from file to file, shared by run, plan and transpose.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "pipeline/job/file_job.hpp"

namespace sepconv::app {

struct RunArguments {
  std::filesystem::path input, output;
  std::vector<std::string> stages;
  std::string format;  ///< file extension without dot, for results without a name; empty: not given
  Chain chain;         ///< parsed from `stages` or from the plan
  FileOptions files;
  RunOptions options{{}, {.retry_smaller_plans = true}};
  std::filesystem::path plan_file;
  std::optional<PlanRecord> plan;  ///< read from plan_file
};
/// As IN, this is standard input; as OUT, standard output.
inline constexpr const char* kStandardStream = "-";

/// Adds the input of a command that writes no image: a file, or - for standard input.
CLI::Option* add_input(CLI::App& command, const std::string& name, std::filesystem::path& path,
                       const std::string& help);
/// Opens this input. Throws InvalidArgument if standard input is a terminal.
std::unique_ptr<RasterSet> open_input(const std::filesystem::path& path, const OpenOptions& options,
                                      std::stop_token stop);

/// The text of a file of at most 16 MiB. Throws InvalidArgument for a longer one: it is not `kind`, what
/// `source` wrote.
std::string read_small_text(const std::filesystem::path& path, std::string_view kind,
                            std::string_view source);

/// Adds IN and OUT, which may be streams.
void add_file_options(CLI::App& command, RunArguments& request);
/// Adds the options of input, layout, device and limits.
void add_job_settings(CLI::App& command, RunArguments& request);
/// Adds IN, OUT, STAGE... and all options of a job.
void add_job_options(CLI::App& command, RunArguments& request);

/// Throws InvalidArgument for options that do not apply to the job's streams, or only to streams.
void check_streams(const RunArguments& request);
/// Throws InvalidArgument if a stream of the job is a terminal.
void check_no_terminal(const RunArguments& request);

/// Plans the job of the request. Reads the header of standard input if IN is a stream.
ImageJob prepare(const RunArguments& request);

/// Prints the plan of the job that `prepare_job` returns, even if OUT exists; then fails as a run would. If
/// `parts` > 0, also prints the cost of computing the result in that many parts.
void print_plan(RunArguments& request, bool as_json, const std::function<ImageJob()>& prepare_job,
                std::int64_t parts = 0);

/// The input files of the job: IN, the plan, and the files that the chain's stages read.
PathsInUse files_read_by(const RunArguments& request);

}  // namespace sepconv::app
