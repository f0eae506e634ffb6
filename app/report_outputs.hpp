// --trace, --report, --stats and --json: reports about a run, in files or on standard output. The names are
// checked before the run; the reports are written after it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "io/byte_file.hpp"
#include "job.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/chrome_trace.hpp"
#include "pipeline/run/run_file.hpp"

namespace sepconv::app {

struct SideFileRequest {
  std::filesystem::path trace, report, stats;  ///< empty: not wanted; "-": standard output
  bool json = false;  ///< the content of `stats` on standard output instead of the summary
};
void add_side_file_options(CLI::App& command, SideFileRequest& request);

/// No file appears before write(), and each file appears completely or not at all. Existing files are
/// replaced only with --force, as OUT is.
class ReportOutputs {
 public:
  /// Throws if a file cannot be created, is named twice, or is read or written by the job.
  ReportOutputs(const SideFileRequest& request, const RunArguments& job);
  ReportOutputs(const SideFileRequest& request, PathsInUse paths_in_use, const std::filesystem::path& output,
                bool overwrite);
  bool wants_limits() const noexcept { return report_.wanted || stats_.wanted || json_.wanted; }
  /// Whether the report is an HTML page instead of text.
  bool wants_html() const noexcept { return wants_html_; }
  /// Whether the summary is printed as JSON.
  bool wants_json() const noexcept { return json_.wanted; }
  /// Writes the run's timeline, its report, and its summary as JSON.
  void write(const Timeline& timeline, const TraceFacts& facts, const std::string& report,
             const std::string& json);

 private:
  struct Destination {
    bool wanted = false;
    std::unique_ptr<OutputFile> file;  ///< null: standard output
    void write(const std::string& content) const;
  };
  static Destination open_destination(const char* option, const std::filesystem::path& path,
                                      PathsInUse& paths_in_use, bool overwrite);

  bool wants_html_ = false;
  Destination trace_, report_, stats_, json_;
};

/// Runs the job of the request, with a progress line and a summary unless quiet, then writes its reports.
/// Returns kDone.
int run_job(ImageJob& job, const RunArguments& request, ReportOutputs& side_files,
            const Verbosity& reporting);

}  // namespace sepconv::app
