// --trace, --report and --stats: files about a run, or standard output, checked before it and written after
// it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "job.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/pipeline/report/report.hpp"
#include "sepconv/pipeline/run/run_file.hpp"

namespace sepconv::app {

struct SideFileRequest {
  std::filesystem::path trace, report, stats;  ///< empty: not wanted; "-": standard output
};
void add_side_file_options(CLI::App& command, SideFileRequest& request);

/// Makes nothing before write(), and every file whole or not at all. A file that exists is replaced only with
/// --force, as OUT is.
class SideFiles {
 public:
  /// Throws if a file could not be made, is asked for twice, or is one that the job reads or makes.
  SideFiles(const SideFileRequest& request, const JobRequest& job);
  SideFiles(const SideFileRequest& request, TakenFiles taken, const std::filesystem::path& output,
            bool overwrite);
  bool wants_limits() const noexcept { return report_.wanted || stats_.wanted; }
  /// The run's spans, and its summary as text and as JSON.
  void write(const Timeline& timeline, const std::string& summary, const std::string& json);

 private:
  struct Destination {
    bool wanted = false;
    std::unique_ptr<OutputFile> file;  ///< null: standard output
    void write(const std::string& said) const;
  };
  static Destination checked(const char* option, const std::filesystem::path& path, TakenFiles& taken,
                             bool overwrite);

  Destination trace_, report_, stats_;
};

/// Runs a job: with a progress line and a summary unless quiet, and the files about it after it. Returns
/// kDone.
int run_job(FileJob& job, ExecutionOptions options, SideFiles& side_files, const Reporting& reporting);

}  // namespace sepconv::app
