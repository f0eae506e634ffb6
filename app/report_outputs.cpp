#include "report_outputs.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "console.hpp"
#include "core/error.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "pipeline/report/html_report.hpp"
#include "pipeline/report/preview_collector.hpp"
#include "pipeline/report/preview_colours.hpp"
#include "progress.hpp"
#include "run_facts.hpp"

namespace sepconv::app {

namespace {

namespace fs = std::filesystem;

/// Whether a report of this name is an HTML page.
bool is_html(const fs::path& report) {
  const std::string ending = ending_of(report);
  return ending == ".html" || ending == ".htm";
}

}  // namespace

void add_side_file_options(CLI::App& command, SideFileRequest& request) {
  command
      .add_option("--trace", request.trace,
                  "write a timeline of each step and band as Chrome trace JSON; - is standard output")
      ->type_name("FILE");
  command
      .add_option(
          "--report", request.report,
          "write the summary to FILE: a page with pictures if it ends in .html, else text; - is standard "
          "output")
      ->type_name("FILE");
  command
      .add_option("--stats", request.stats,
                  "write the summary and the plan to FILE as JSON; - is standard output")
      ->type_name("FILE");
  command.add_flag("--json", request.json,
                   "print the summary and the plan as JSON on standard output, in place of the text summary");
}

ReportOutputs::ReportOutputs(const SideFileRequest& request, const RunArguments& job)
    : ReportOutputs(request, files_read_by(job), job.output, job.files.output.overwrite) {}

ReportOutputs::ReportOutputs(const SideFileRequest& request, PathsInUse paths_in_use, const fs::path& output,
                             bool overwrite)
    : wants_html_(is_html(request.report)) {
  paths_in_use.emplace_back(output, "the result");
  if (output != kStandardStream)
    paths_in_use.emplace_back(Checkpoint::checkpoint_folder_of(output), "the unfinished result");
  json_ = open_destination("--json", request.json ? kStandardStream : "", paths_in_use, overwrite);
  trace_ = open_destination("--trace", request.trace, paths_in_use, overwrite);
  report_ = open_destination("--report", request.report, paths_in_use, overwrite);
  stats_ = open_destination("--stats", request.stats, paths_in_use, overwrite);
}

ReportOutputs::Destination ReportOutputs::open_destination(const char* option, const fs::path& path,
                                                           PathsInUse& paths_in_use, bool overwrite) {
  if (path.empty()) return {};
  const bool to_stdout = path == kStandardStream;
  for (const auto& [used_path, role] : paths_in_use) {
    if (to_stdout != (used_path == kStandardStream) || !(to_stdout || is_of(path, used_path))) continue;
    if (option == std::string_view("--json"))
      throw InvalidArgument(fmt::format("--json: standard output is {}; choose --stats FILE", role));
    throw InvalidArgument(fmt::format("{} {}: {} {}; choose another name", option, path.string(),
                                      to_stdout                       ? "standard output is"
                                      : is_same_name(path, used_path) ? "this file is"
                                                                      : "this file is of",
                                      role));
  }
  paths_in_use.emplace_back(path, fmt::format("that of {}", option));
  return {true, to_stdout ? nullptr
                          : std::make_unique<OutputFile>(path, OutputFile::Options{.overwrite = overwrite})};
}

void ReportOutputs::Destination::write(const std::string& content) const {
  if (file == nullptr) return print_lines(content);
  const std::string text = with_flags(content);
  file->write_at(0, std::as_bytes(std::span(text)));
  file->commit();
}

void ReportOutputs::write(const Timeline& timeline, const TraceFacts& facts, const std::string& report,
                          const std::string& json) {
  if (trace_.wanted) {
    std::ostringstream text;
    write_chrome_trace(text, timeline, facts);
    trace_.write(text.str());
  }
  if (report_.wanted) report_.write(report);
  if (stats_.wanted) stats_.write(json);
  if (json_.wanted) json_.write(json);
}

int run_job(ImageJob& job, const RunArguments& request, ReportOutputs& side_files,
            const Verbosity& reporting) {
  std::optional<PreviewCollector> pictures;
  ExecutionOptions options = request.options;
  if (side_files.wants_html())
    options.observer = &pictures.emplace(
        job.plan, PreviewCollector::Indexed{.source = table_of(*job.source, {}).has_value(),
                                            .result = table_of(*job.source, job.plan.given).has_value()});
  RunReport report;
  {
    ProgressLine line(reporting.quiet);
    options.progress = line.callback();
    report = run(job, options);
  }
  const bool is_brief = report.wall_seconds < kShortRunSeconds && !reporting.verbose;
  std::string text, json;
  if (side_files.wants_limits() || !(reporting.quiet || is_brief)) {
    const RunLimits limits = measure_limits(report);
    text = summary(report, limits);
    if (side_files.wants_limits()) {
      const RunFacts facts = run_facts(report, job, request.input, request.files.open, request.output);
      json = to_json(report, limits, &facts);
    }
  }
  const TraceFacts facts{to_json(report.plan), command_line(), true};
  const std::string page = pictures ? to_html(with_pictures(json, report, *pictures)) : text;
  side_files.write(report.timeline, facts, page, json);
  if (reporting.quiet || side_files.wants_json() || job.is_named)
    warn(report.plan.warnings);
  else if (is_brief)
    write_to_stderr(brief_summary(report));
  else
    write_to_stderr(text);
  return kDone;
}

}  // namespace sepconv::app
