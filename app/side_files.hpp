// --trace, --report and --stats: files about a run, checked before it and made after it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "job.hpp"
#include "sepconv/io/file.hpp"
#include "sepconv/pipeline/report.hpp"

namespace sepconv::app {

struct SideFileRequest {
  std::filesystem::path trace, report, stats;  ///< empty: not wanted
};
void add_side_file_options(CLI::App& command, SideFileRequest& request);

/// Makes nothing before write(), and every file whole or not at all. A file that exists is replaced only with
/// --force, as OUT is.
class SideFiles {
 public:
  /// Files that no log may be, and what each is.
  using Taken = std::vector<std::pair<std::filesystem::path, std::string>>;

  /// Throws if a file could not be made, is asked for twice, or is one that the job reads or makes.
  SideFiles(const SideFileRequest& request, const JobRequest& job);
  SideFiles(const SideFileRequest& request, Taken taken, bool overwrite);
  bool wants_limits() const noexcept { return report_ || stats_; }
  /// The run's spans, and its summary as text and as JSON.
  void write(const Timeline& timeline, const std::string& summary, const std::string& json);

 private:
  std::unique_ptr<OutputFile> trace_, report_, stats_;
};

/// Runs a prepared job: with a progress line and a summary unless quiet, and the files about it after it. Returns kDone.
int run_streaming(Job& job, SideFiles& side_files, const Reporting& reporting);

}  // namespace sepconv::app
