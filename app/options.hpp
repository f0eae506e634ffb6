// Groups of options that commands share. Wrong values throw InvalidArgument.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli11.hpp"
#include "commands.hpp"
#include "io/formats.hpp"
#include "option_values.hpp"
#include "pipeline/job/file_job.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

/// Adds --page, --level, --axes, --missing-chunks and --raw. `suffix` is for the options of a second input.
void add_input_options(CLI::App& command, OpenOptions& options, const std::string& suffix = "");

/// Adds --region.
void add_region_option(CLI::App& command, PlanOptions& options);

/// Adds --nodata and --nodata-bands.
void add_nodata_option(CLI::App& command, MissingOptions& options);
/// Adds --alpha.
void add_alpha_option(CLI::App& command, MissingOptions& options);
/// Adds these and --dst-nodata.
void add_missing_options(CLI::App& command, MissingOptions& options);

/// Adds the options of the output layout, such as --compress and --tile.
void add_layout_options(CLI::App& command, OutputOptions& request);

/// Adds --orient, --to-8bit and --background.
void add_picture_options(CLI::App& command, FileOptions& files);

/// Adds --device, auto by default, and --max-device-memory.
void add_device_options(CLI::App& command, PlanOptions& options);
/// Adds --max-memory and --threads.
void add_memory_options(CLI::App& command, PlanOptions& options);
/// Adds these and --band-rows.
void add_budget_options(CLI::App& command, PlanOptions& options);
/// Adds these, --slots and --band-cols.
void add_band_options(CLI::App& command, PlanOptions& options);
/// Adds all of these and --arithmetic.
void add_limit_options(CLI::App& command, PlanOptions& options);

/// How much is printed besides the result.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_reporting_options(CLI::App& command, Verbosity& reporting);

/// Adds --dry-run; its help says that the plan lists `contents`.
CLI::Option* add_dry_run_option(CLI::App& command, bool& dry_run, const std::string& contents);

/// A logger to stderr if --verbose is set, else null.
std::shared_ptr<spdlog::logger> make_logger(const Verbosity& reporting);

/// For help texts: the name and the help line of every stage.
std::string stage_list();
/// For help texts: the names of the formats, and a list of what each format reads and writes.
std::string format_names();
std::string format_list();

}  // namespace sepconv::app
