// Records when each step worked on each band, on a monotonic clock; for the summary and for --trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sepconv {

/// One interval of one track. Times are in seconds since the timeline's origin.
struct Span {
  /// Value of `band` for the closing of the result's file.
  static constexpr std::int64_t kClosing = -1;

  std::string track;  ///< "read", "compute", "write"; an engine of a device
  std::int64_t band = 0;
  double begin = 0;
  double end = 0;
  std::int64_t bytes = 0;
  std::int64_t image = 0;  ///< index in a set, in the order of the run; set by Timeline::record
  std::int64_t bands = 1;  ///< number of bands merged into this span, from `band` on
};

/// Totals of one track.
struct TrackTotals {
  double busy_seconds = 0;    ///< length of the union of its intervals
  double hidden_seconds = 0;  ///< part of busy_seconds during which another track was busy too
  std::int64_t bytes = 0;
};

/// Resident memory of the process at one time.
struct MemorySample {
  double seconds = 0;
  std::int64_t bytes = 0;
};

/// Collects spans; thread-safe. A copy contains the spans recorded so far. Beyond kMaxSpans, adjacent spans
/// are merged. Totals still count the original spans, except for overlaps across a merge, about every ten
/// thousand spans.
class Timeline {
 public:
  Timeline() : origin_(std::chrono::steady_clock::now()) {}
  Timeline(const Timeline& other);
  Timeline& operator=(const Timeline& other);

  /// The time that spans are relative to.
  std::chrono::steady_clock::time_point origin() const noexcept { return origin_; }
  double now() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin_).count();
  }
  void record(Span span);
  /// Samples the resident memory of the process. Samples too close to the last one are dropped, which bounds
  /// their number.
  void sample_memory();
  std::vector<MemorySample> memory() const;
  /// Sets the image index of the following spans.
  void begin_image(std::int64_t image);
  std::vector<Span> spans() const;
  TrackTotals totals(const std::string& track) const;
  static constexpr std::size_t kMaxSpans = 1 << 15;

 private:
  void compact();

  std::chrono::steady_clock::time_point origin_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
  std::size_t totalled_count_ = 0;  // number of leading spans included in totals_
  std::map<std::string, TrackTotals> totals_;
  std::vector<MemorySample> memory_;
  double min_sample_interval_ = 1e-3;  // minimum seconds between samples
  std::int64_t image_ = 0;
};

/// "upload" of "upload cuda:1".
std::string step_of(const std::string& track);
/// Total length of the union of the intervals of a track.
double busy_seconds(const std::vector<Span>& spans, const std::string& track);
/// Length of the part of `track`'s union during which another track was busy too.
double hidden_seconds(const std::vector<Span>& spans, const std::string& track);

}  // namespace sepconv
