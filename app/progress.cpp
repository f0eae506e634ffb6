#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "console.hpp"

namespace sepconv::app {

namespace {

constexpr std::chrono::milliseconds kInterval{100};

std::string format_seconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : shown_(!quiet && stderr_supports_escapes()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (std::exchange(dirty_, false)) rewrite_stderr_line("");
}

std::function<void(const Progress&)> ProgressLine::callback(const std::string& prefix) {
  if (!shown_) return {};
  return [this, prefix](const Progress& progress) { update(prefix, progress); };
}

void ProgressLine::update(const std::string& prefix, const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  dirty_ = true;
  rewrite_stderr_line(prefix + progress_text(progress));
}

std::string progress_text(const Progress& progress) {
  const auto done = static_cast<double>(progress.pixels_done);
  const auto all = static_cast<double>(progress.pixels);
  const double seconds = std::max(progress.seconds, 1e-6);
  const auto bytes = static_cast<double>(progress.bytes_read + progress.bytes_written);
  std::string text = fmt::format("{:3.0f} %  {:.0f} Mpix/s  {:.0f} MB/s", all > 0 ? 100 * done / all : 100,
                                 done / seconds / 1e6, bytes / seconds / 1e6);
  if (done > 0) text += fmt::format("  {} left", format_seconds((all - done) * seconds / done));
  return text;
}

}  // namespace sepconv::app
