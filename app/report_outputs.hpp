// --trace, --report and --stats: files about a run, or standard output, checked before it and written after
// it.
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
  bool json = false;  ///< what `stats` is, on standard output in place of the summary
};
void add_side_file_options(CLI::App& command, SideFileRequest& request);

/// Makes nothing before write(), and every file whole or not at all. A file that exists is replaced only with
/// --force, as OUT is.
class ReportOutputs {
 public:
  /// Throws if a file could not be made, is asked for twice, or is one that the job reads or makes.
  ReportOutputs(const SideFileRequest& request, const RunArguments& job);
  ReportOutputs(const SideFileRequest& request, PathsInUse taken, const std::filesystem::path& output,
                bool overwrite);
  bool wants_limits() const noexcept { return report_.wanted || stats_.wanted || json_.wanted; }
  /// The report is to be a page, and not text.
  bool wants_page() const noexcept { return wants_page_; }
  /// The summary is for a program to read.
  bool wants_json() const noexcept { return json_.wanted; }
  /// The run's timeline, its report, and its summary as JSON.
  void write(const Timeline& timeline, const TraceFacts& facts, const std::string& report,
             const std::string& json);

 private:
  struct Destination {
    bool wanted = false;
    std::unique_ptr<OutputFile> file;  ///< null: standard output
    void write(const std::string& said) const;
  };
  static Destination checked(const char* option, const std::filesystem::path& path, PathsInUse& taken,
                             bool overwrite);

  bool wants_page_ = false;
  Destination trace_, report_, stats_, json_;
};

/// Runs the job that the request was prepared as: with a progress line and a summary unless quiet, and the
/// files about it after it. Returns kDone.
int run_job(ImageJob& job, const RunArguments& request, ReportOutputs& side_files,
            const Verbosity& reporting);

}  // namespace sepconv::app
