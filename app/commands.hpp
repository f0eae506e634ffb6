// The commands of the sepconv program. Each add_... function declares one command with its options and stores
// its action.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

/// Exit codes of the program; docs and tests rely on them. compare uses the exit codes of cmp.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kDifferent = 1,  ///< compare
  kWrongUsage = 2,
  kError = 2,  ///< compare: a failure
  kInterrupted = 130,
  kBrokenPipe = 141,  ///< stdout's reader closed the pipe; 128 + SIGPIPE, as shells report it
};

/// State that main() shares with the chosen command.
struct Context {
  std::stop_token stop;         ///< requested by the first Ctrl-C, SIGTERM or SIGHUP
  std::function<int()> action;  ///< set by the chosen command during parsing, called once after it
  /// Called after the command failed. Returns a clause that describes its partial results, or "".
  std::function<std::string()> describe_partial_results = [] { return std::string(); };
  std::atomic<bool> has_partial_results = false;  ///< the command has replaced the function
  void set_partial_results(std::function<std::string()> describe) {
    describe_partial_results = std::move(describe);
    has_partial_results = true;
  }
  ExitCode failure = kFailed;  ///< the command's exit code for failures; its results have lower codes
};

void add_run_command(CLI::App& program, Context& context);
void add_finish_command(CLI::App& program, Context& context);
void add_preview_command(CLI::App& program, Context& context);
void add_report_command(CLI::App& program, Context& context);
void add_plan_command(CLI::App& program, Context& context);
void add_transpose_command(CLI::App& program, Context& context);
void add_gemm_command(CLI::App& program, Context& context);
void add_info_command(CLI::App& program, Context& context);
void add_stats_command(CLI::App& program, Context& context);
void add_compare_command(CLI::App& program, Context& context);
void add_generate_command(CLI::App& program, Context& context);
void add_devices_command(CLI::App& program, Context& context);
void add_bench_command(CLI::App& program, Context& context);
void add_stages_command(CLI::App& program, Context& context);
/// These must be called last: they complete and describe the commands and options declared before them.
void add_completion_command(CLI::App& program, Context& context);
void add_help_command(CLI::App& program, Context& context);
void add_manual_command(CLI::App& program, Context& context);

/// The subcommands that help shows.
std::vector<const CLI::App*> commands_of(const CLI::App& command);
/// The subcommand of this name, hidden or not. Throws InvalidArgument that lists the shown ones.
const CLI::App& find_command(const CLI::App& commands, const std::string& name);

}  // namespace sepconv::app
