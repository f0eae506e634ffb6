#include "options.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <mutex>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "core/error.hpp"
#include "pipeline/chain/chain.hpp"
#include "pipeline/job/option.hpp"

namespace sepconv::app {

namespace {

/// Writes log lines to stderr through the console functions.
class ConsoleSink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    write_to_stderr({line.data(), line.size()});
  }
  void flush_() override {}
};

template <class Options>
void add_option(CLI::App& command, const Option<Options>& option, Options& options,
                const std::string& suffix = "") {
  const std::string name = std::string(option.names[0].flag) + suffix;
  const std::string help(option.help);
  const auto set = [&option, &options, name](const std::string& text) {
    set_option(option, options, name, text);
  };
  const std::string flags =
      option.second_flag.empty() ? name : fmt::format("{},{}", name, option.second_flag);
  if (option.kind == ValueKind::flag) {
    command.add_flag_callback(
        flags, [set] { set(""); }, help);
    return;
  }
  CLI::Option* const added = option.value.starts_with('[')
                                 ? command.add_flag(flags + "{auto}")->description(help)->each(set)
                                 : command.add_option_function<std::string>(flags, set, help);
  switch (option.kind) {
    case ValueKind::integer:
      added->transform(whole_number(option.min, option.max))->type_name("INT");
      break;
    case ValueKind::choice:
      add_choices(added, choices(option.value));
      break;
    default:
      added->type_name(std::string(option.value));
  }
}

/// Adds the options of a table with these flags.
template <class Options>
void add_options(CLI::App& command, const std::vector<Option<Options>>& table, Options& options,
                 std::initializer_list<std::string_view> flags) {
  for (const Option<Options>& option : table) {
    if (std::ranges::find(flags, option.names[0].flag) != flags.end()) add_option(command, option, options);
  }
}

}  // namespace

void add_input_options(CLI::App& command, OpenOptions& options, const std::string& suffix) {
  for (const Option<OpenOptions>& option : open_option_table()) add_option(command, option, options, suffix);
}

void add_region_option(CLI::App& command, PlanOptions& options) {
  add_options(command, plan_option_table(), options, {"--region"});
}

void add_nodata_option(CLI::App& command, MissingOptions& options) {
  add_options(command, missing_option_table(), options, {"--nodata", "--nodata-bands"});
}

void add_alpha_option(CLI::App& command, MissingOptions& options) {
  add_options(command, missing_option_table(), options, {"--alpha"});
}

void add_missing_options(CLI::App& command, MissingOptions& options) {
  for (const Option<MissingOptions>& option : missing_option_table()) add_option(command, option, options);
}

void add_layout_options(CLI::App& command, OutputOptions& request) {
  for (const OutputOption& option : output_option_table()) {
    if (option.scope != OptionScope::picture) add_option<OutputOptions>(command, option, request);
  }
}

void add_picture_options(CLI::App& command, FileOptions& files) {
  for (const Option<FileOptions>& option : file_option_table()) add_option(command, option, files);
  for (const OutputOption& option : output_option_table()) {
    if (option.scope == OptionScope::picture) add_option<OutputOptions>(command, option, files.output);
  }
}

void add_device_options(CLI::App& command, PlanOptions& options) {
  options.choose_device = true;
  add_options(command, plan_option_table(), options, {"--device", "--max-device-memory"});
}

void add_memory_options(CLI::App& command, PlanOptions& options) {
  add_options(command, plan_option_table(), options, {"--max-memory", "--threads"});
}

void add_budget_options(CLI::App& command, PlanOptions& options) {
  add_memory_options(command, options);
  add_options(command, plan_option_table(), options, {"--band-rows"});
}

void add_band_options(CLI::App& command, PlanOptions& options) {
  add_budget_options(command, options);
  add_options(command, plan_option_table(), options, {"--slots", "--band-cols"});
}

void add_limit_options(CLI::App& command, PlanOptions& options) {
  add_band_options(command, options);
  add_options(command, plan_option_table(), options, {"--arithmetic"});
}

void add_reporting_options(CLI::App& command, Verbosity& reporting) {
  command.add_flag("-q,--quiet", reporting.quiet, "no progress and no summary; warnings stay");
  command.add_flag("-v,--verbose", reporting.verbose,
                   "plan, retries, warnings and the whole summary on stderr");
}

CLI::Option* add_dry_run_option(CLI::App& command, bool& dry_run, const std::string& contents) {
  return command.add_flag("-n,--dry-run", dry_run, "print the plan and stop: " + contents + ", peak memory");
}

std::shared_ptr<spdlog::logger> make_logger(const Verbosity& reporting) {
  if (!reporting.verbose) return nullptr;
  auto logger = std::make_shared<spdlog::logger>("sepconv", std::make_shared<ConsoleSink>());
  logger->set_level(spdlog::level::debug);
  logger->set_pattern("[%H:%M:%S.%e] %l: %v");
  return logger;
}

std::string stage_list() {
  std::string text = "Stages (sepconv stages NAME says more):\n";
  for (const StageEntry& entry : stage_table()) text += fmt::format("  {:<17} {}\n", entry.name, entry.help);
  return text;
}

std::string format_names() {
  std::string names;
  for (const Format& format : built_in_formats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

std::string format_list() {
  std::string list = "Formats:\n";
  for (const Format& format : built_in_formats())
    list += fmt::format("  {} {}\n    reads {}\n    writes {}\n", format.name, format.endings, format.reads,
                        format.writes);
  return list;
}

}  // namespace sepconv::app
