#include "side_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "console.hpp"
#include "progress.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/stages/definition.hpp"

namespace sepconv::app {

namespace {

namespace fs = std::filesystem;

/// Also when the file is yet to be made.
bool is_same_name(const fs::path& a, const fs::path& b) {
  if (is_same_file(a, b)) return true;
  const auto resolved = [](const fs::path& path) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error);
    const fs::path real = fs::weakly_canonical(full, error);
    return error ? full.lexically_normal() : real;
  };
  return resolved(a) == resolved(b);
}

using Taken = SideFiles::Taken;

Taken taken_names(const JobRequest& job) {
  Taken taken = {{job.input, "the input image"}, {job.output, "the output image"}};
  for (const std::string& stage : job.stages) {
    const StageArgs args(stage);
    if (args.has("file")) taken.emplace_back(args.text("file"), fmt::format("read by the stage {}", stage));
  }
  return taken;
}

std::unique_ptr<OutputFile> checked(const char* option, const fs::path& path, Taken& taken, bool overwrite) {
  if (path.empty()) return nullptr;
  for (const auto& [other, what] : taken) {
    if (is_same_name(path, other)) {
      throw InvalidArgument(
          fmt::format("{} {}: this file is {}; choose another name", option, path.string(), what));
    }
  }
  taken.emplace_back(path, fmt::format("that of {}", option));
  return std::make_unique<OutputFile>(path, OutputFile::Options{.overwrite = overwrite});
}

void write_whole(OutputFile& file, const std::string& text) {
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

void add_side_file_options(CLI::App& command, SideFileRequest& request) {
  command.add_option("--trace", request.trace, "when each step worked on each band, as Chrome trace JSON")
      ->type_name("FILE");
  command.add_option("--report", request.report, "the closing summary, as text")->type_name("FILE");
  command.add_option("--stats", request.stats, "the closing summary and the plan, as JSON")
      ->type_name("FILE");
}

SideFiles::SideFiles(const SideFileRequest& request, const JobRequest& job)
    : SideFiles(request, taken_names(job), job.layout.overwrite) {}

SideFiles::SideFiles(const SideFileRequest& request, Taken taken, bool overwrite)
    : trace_(checked("--trace", request.trace, taken, overwrite)),
      report_(checked("--report", request.report, taken, overwrite)),
      stats_(checked("--stats", request.stats, taken, overwrite)) {}

void SideFiles::write(const Timeline& timeline, const std::string& summary, const std::string& json) {
  if (trace_) {
    std::ostringstream text;
    write_chrome_trace(text, timeline.spans());
    write_whole(*trace_, text.str());
  }
  if (report_) write_whole(*report_, summary);
  if (stats_) write_whole(*stats_, json);
}

int run_streaming(Job& job, SideFiles& side_files, const Reporting& reporting) {
  RunReport report;
  {
    ProgressLine line(reporting.quiet);
    RunOptions options = job.options;
    options.progress = line.callback();
    report = run(*job.source, *job.sink, job.chain, options);
  }
  RunLimits limits;
  if (!reporting.quiet || side_files.wants_limits()) limits = measure_limits(report.plan);
  if (side_files.wants_limits() || !reporting.quiet) {
    const std::string text = summary(report, limits);
    side_files.write(report.timeline, text, to_json(report, limits));
    if (!reporting.quiet) write_to_stderr(text);
  } else {
    side_files.write(report.timeline, {}, {});
  }
  return kDone;
}

}  // namespace sepconv::app
