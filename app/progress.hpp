// A progress line on the terminal.
#pragma once

#include <chrono>
#include <string>

#include "pipeline/run/run.hpp"

namespace sepconv::app {

/// Shows nothing if stderr is not a terminal that can rewrite a line, or if `quiet` is set. The destructor
/// clears the line.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  /// For RunOptions::progress; empty if nothing is shown. This object must outlive the run. The line starts
  /// with `prefix`.
  std::function<void(const Progress&)> callback(const std::string& prefix = "");
  /// Clears the line, so that other lines can follow.
  void clear();

 private:
  void update(const std::string& prefix, const Progress& progress);

  bool shown_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point next_{};
};

/// " 42 %  312 Mpix/s  625 MB/s  0:12 left"
std::string progress_text(const Progress& progress);

}  // namespace sepconv::app
