// What run, plan and transpose have in common: the typed words of a job from file to file.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "device_choice.hpp"
#include "options.hpp"
#include "pipeline/plan/file_job.hpp"

namespace sepconv::app {

struct RunArguments {
  std::filesystem::path input, output;
  std::vector<std::string> stages;
  std::string format;  ///< an ending without its dot, of results that have no name; empty: not given
  Chain chain;         ///< of these stages, or of the plan's
  FileOptions files;
  RunOptions options{{}, {.smaller_plans = true}};
  std::filesystem::path plan_file;
  std::optional<PlanRecord> plan;  ///< of that file
};
/// What stands for standard input in the place of IN, and for standard output in that of OUT.
inline constexpr const char* kStandardStream = "-";

/// What is read by a command that makes no image: a file or, as -, standard input.
CLI::Option* add_input(CLI::App& command, const std::string& name, std::filesystem::path& path,
                       const std::string& help);
/// Its images. Throws InvalidArgument where standard input is a terminal.
std::unique_ptr<RasterSet> open_input(const std::filesystem::path& path, const OpenOptions& options,
                                      std::stop_token stop);

/// IN and OUT, which may be streams.
void add_file_options(CLI::App& command, RunArguments& request);
/// The options of input, layout, device and limits.
void add_job_settings(CLI::App& command, RunArguments& request);
/// IN, OUT, STAGE... and the options.
void add_job_options(CLI::App& command, RunArguments& request);

/// Throws InvalidArgument for options that mean nothing to the job's streams, or only to streams.
void check_streams(const RunArguments& request);
/// Pixels are not text: throws InvalidArgument for a stream that is a terminal.
void check_no_terminal(const RunArguments& request);

/// plan_file() as the request says, or plan_job() where IN or OUT is a stream, of which it reads the header.
ImageJob prepare(const RunArguments& request);

/// Prints the plan of what `prepared` makes of the request, although OUT exists; then fails as a run would.
/// What it takes to make the result in this many `parts` is said, too, if there are any.
void print_plan(RunArguments& request, bool as_json, const std::function<ImageJob()>& prepared,
                std::int64_t parts = 0);

/// IN, the plan, and the files that the chain's stages read.
PathsInUse files_read_by(const RunArguments& request);

}  // namespace sepconv::app
