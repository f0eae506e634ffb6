// When each step worked on each band, from the program's own monotonic clock: for the summary and for
// --trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sepconv {

/// One interval of one track. Seconds since the timeline's origin.
struct Span {
  /// In the place of a band: of none, the closing of the result's file behind the last.
  static constexpr std::int64_t kClosing = -1;

  std::string track;  ///< "read", "compute", "write"; an engine of a device
  std::int64_t band = 0;
  double begin = 0;
  double end = 0;
  std::int64_t bytes = 0;
  std::int64_t image = 0;  ///< of a set, from 0 in the order in which they are run; set by Timeline::record
  std::int64_t bands = 1;  ///< of a long run: this many of the track, from this one on, are one interval
};

/// For one track.
struct TrackTotals {
  double busy_seconds = 0;    ///< length of the union of its intervals
  double hidden_seconds = 0;  ///< length of the part of that which another track covers as well
  std::int64_t bytes = 0;
};

/// What the process held at one time.
struct MemorySample {
  double seconds = 0;
  std::int64_t bytes = 0;
};

/// Collects spans from any thread. Copying takes the spans recorded so far. Of so many that they would take
/// megabytes neighbours are joined; totals are those of all as they were, but for overlaps across the moments
/// at which that was done, every ten thousand spans.
class Timeline {
 public:
  Timeline() : origin_(std::chrono::steady_clock::now()) {}
  Timeline(const Timeline& other);
  Timeline& operator=(const Timeline& other);

  /// The moment that every span's seconds are counted from.
  std::chrono::steady_clock::time_point origin() const noexcept { return origin_; }
  double now() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin_).count();
  }
  void record(Span span);
  /// Notes what the process holds now; of notes close to each other one is taken, so that there are never
  /// many.
  void note_memory();
  std::vector<MemorySample> memory() const;
  /// What is recorded from now on is of this image.
  void begin_image(std::int64_t image);
  std::vector<Span> spans() const;
  TrackTotals totals(const std::string& track) const;
  static constexpr std::size_t kMaxSpans = 1 << 15;

 private:
  void settle();

  std::chrono::steady_clock::time_point origin_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
  std::size_t settled_ = 0;  // spans, from the first on, that the totals have
  std::map<std::string, TrackTotals> totals_;
  std::vector<MemorySample> memory_;
  double least_apart_ = 1e-3;  // seconds from sample to sample
  std::int64_t image_ = 0;
};

/// "upload" of "upload cuda:1".
std::string step_of(const std::string& track);
/// Total length of the union of the intervals of a track.
double busy_seconds(const std::vector<Span>& spans, const std::string& track);
/// Length of the part of `track`'s union that some other track covers as well.
double hidden_seconds(const std::vector<Span>& spans, const std::string& track);

}  // namespace sepconv
