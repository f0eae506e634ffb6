// The commands of the sepconv program. Each add_... function declares one with its options and sets what it
// does as its action.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

/// Exit codes of the program; docs and tests rely on them. Those of compare are cmp's.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kDifferent = 1,  ///< compare
  kWrongUsage = 2,
  kError = 2,  ///< compare: what is kFailed elsewhere
  kInterrupted = 130,
  kBrokenPipe = 141,  ///< stdout's reader went away: what a shell says of a program that SIGPIPE ended
};

/// What main() gives to the commands and gets back from the one that was typed.
struct Context {
  std::stop_token stop;         ///< requested by the first Ctrl-C, SIGTERM or SIGHUP
  std::function<int()> action;  ///< set by the chosen command while options are parsed, called once after
  /// Called after a command that failed: what it has left for the next of its kind, as a clause; "": nothing.
  std::function<std::string()> kept = [] { return std::string(); };
  std::atomic<bool> keeps = false;  ///< `kept` is the command's
  void keep(std::function<std::string()> what) {
    kept = std::move(what);
    keeps = true;
  }
  ExitCode failure = kFailed;  ///< of the chosen command; its results have lower codes
};

void add_run_command(CLI::App& program, Context& context);
void add_finish_command(CLI::App& program, Context& context);
void add_preview_command(CLI::App& program, Context& context);
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
/// To be called last: they offer and describe the commands and options declared before them.
void add_completion_command(CLI::App& program, Context& context);
void add_help_command(CLI::App& program, Context& context);
void add_manual_command(CLI::App& program, Context& context);

/// Those that help shows.
std::vector<const CLI::App*> commands_of(const CLI::App& command);
/// The command of this name, shown or not. Throws InvalidArgument that names those that are.
const CLI::App& find_command(const CLI::App& commands, const std::string& name);

}  // namespace sepconv::app
