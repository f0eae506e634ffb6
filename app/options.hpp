// Groups of options that commands share, and the texts they are typed as. What is typed wrong throws
// InvalidArgument.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli11.hpp"
#include "commands.hpp"
#include "io/formats.hpp"
#include "option_values.hpp"
#include "pipeline/plan/file_job.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

/// "64M", "1.5GiB", "4096": bytes; K M G T are binary, with or without iB or B.
std::int64_t parse_size(const std::string& option, const std::string& text);
/// "COLSxROWS".
Extent parse_extent(const std::string& option, const std::string& text);
/// "COLSxROWS+COL+ROW".
Rect parse_region(const std::string& option, const std::string& text);
/// "COLSxROWS[xCHANNELS]:TYPE[:OFFSET]", TYPE with "be" at its end for big-endian values.
void parse_raw(const std::string& option, const std::string& text, OpenOptions& options);

/// --page and --raw; `suffix` is for a second input.
void add_input_options(CLI::App& command, OpenOptions& options, const std::string& suffix = "");

/// --region, straight into the options of a run.
void add_region_option(CLI::App& command, RunOptions& options);

/// --nodata, straight into the options of a run.
void add_nodata_option(CLI::App& command, MissingOptions& options);
/// --alpha likewise.
void add_alpha_option(CLI::App& command, MissingOptions& options);
/// These and --dst-nodata.
void add_missing_options(CLI::App& command, MissingOptions& options);

/// How the output is to be stored, as far as the user says.
void add_layout_options(CLI::App& command, OutputOptions& request);

/// --orient, --to-8bit and --background.
void add_picture_options(CLI::App& command, FileOptions& files);

/// --max-memory, --threads and --band-rows, straight into the options of a run.
void add_budget_options(CLI::App& command, RunOptions& options);
/// These, --slots and --band-cols.
void add_cut_options(CLI::App& command, RunOptions& options);
/// All of these and --arithmetic, straight into the options of a run.
void add_limit_options(CLI::App& command, RunOptions& options);

/// What is shown next to the result.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_reporting_options(CLI::App& command, Verbosity& reporting);

/// --dry-run, which says `what`.
CLI::Option* add_dry_run_option(CLI::App& command, bool& dry_run, const std::string& what);

/// The logger that --verbose asks for, on stderr; else null.
std::shared_ptr<spdlog::logger> make_logger(const Verbosity& reporting);

/// For help texts: the name and first line of every stage.
std::string stage_list();
/// "TIFF, NPY, ...", and what of each format is read and written.
std::string format_names();
std::string format_list();

}  // namespace sepconv::app
