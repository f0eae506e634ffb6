#include "pipeline/run/timeline.hpp"

#include <algorithm>
#include <set>

#include "pipeline/machine/host_resources.hpp"

namespace sepconv {

namespace {

/// Disjoint intervals in ascending order.
using Intervals = std::vector<std::pair<double, double>>;

Intervals merged(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  Intervals result;
  for (const auto& [begin, end] : intervals) {
    if (end <= begin) continue;
    if (!result.empty() && begin <= result.back().second) {
      result.back().second = std::max(result.back().second, end);
    } else {
      result.emplace_back(begin, end);
    }
  }
  return result;
}

template <class Predicate>
Intervals union_of(const std::vector<Span>& spans, Predicate&& predicate) {
  Intervals intervals;
  for (const Span& span : spans) {
    if (predicate(span)) intervals.emplace_back(span.begin, span.end);
  }
  return merged(std::move(intervals));
}

double length(const Intervals& intervals) {
  double sum = 0;
  for (const auto& [begin, end] : intervals) sum += end - begin;
  return sum;
}

double common_length(const Intervals& a, const Intervals& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max(0.0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
    if (a[i].second < b[j].second) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

std::set<std::string> tracks_of(const std::vector<Span>& spans) {
  std::set<std::string> tracks;
  for (const Span& span : spans) tracks.insert(span.track);
  return tracks;
}

TrackTotals totals_of(const std::vector<Span>& spans, const std::string& track) {
  TrackTotals totals{busy_seconds(spans, track), hidden_seconds(spans, track)};
  for (const Span& span : spans)
    if (span.track == track) totals.bytes += span.bytes;
  return totals;
}

void add(TrackTotals& totals, const TrackTotals& other) {
  totals.busy_seconds += other.busy_seconds;
  totals.hidden_seconds += other.hidden_seconds;
  totals.bytes += other.bytes;
}

/// Merges the first and second, third and fourth span, and so on, of each track; closing spans are merged
/// separately.
std::vector<Span> merged_pairs(const std::vector<Span>& spans) {
  std::vector<Span> merged_spans;
  std::map<std::pair<std::string, bool>, std::size_t> open;  // index of the unpaired span per track
  for (const Span& span : spans) {
    const std::pair key(span.track, span.band == Span::kClosing);
    const auto first = open.find(key);
    if (first == open.end()) {
      open[key] = merged_spans.size();
      merged_spans.push_back(span);
      continue;
    }
    Span& merged_span = merged_spans[first->second];
    merged_span.begin = std::min(merged_span.begin, span.begin);
    merged_span.end = std::max(merged_span.end, span.end);
    merged_span.bytes += span.bytes;
    merged_span.bands += span.bands;
    open.erase(first);
  }
  return merged_spans;
}

}  // namespace

Timeline::Timeline(const Timeline& other) { *this = other; }

Timeline& Timeline::operator=(const Timeline& other) {
  if (this == &other) return *this;
  const std::scoped_lock lock(mutex_, other.mutex_);
  origin_ = other.origin_;
  spans_ = other.spans_;
  totalled_count_ = other.totalled_count_;
  totals_ = other.totals_;
  memory_ = other.memory_;
  return *this;
}

void Timeline::record(Span span) {
  const std::lock_guard lock(mutex_);
  span.image = image_;
  spans_.push_back(std::move(span));
  if (spans_.size() >= kMaxSpans) compact();
}

/// Adds the new spans to the totals, then merges adjacent spans of each track until at most kMaxSpans / 2
/// remain.
void Timeline::compact() {
  const std::vector<Span> new_spans(spans_.begin() + static_cast<std::ptrdiff_t>(totalled_count_),
                                    spans_.end());
  for (const std::string& track : tracks_of(new_spans)) add(totals_[track], totals_of(new_spans, track));
  while (spans_.size() > kMaxSpans / 2) spans_ = merged_pairs(spans_);
  totalled_count_ = spans_.size();
}

TrackTotals Timeline::totals(const std::string& track) const {
  const std::lock_guard lock(mutex_);
  const auto compacted = totals_.find(track);
  TrackTotals totals = compacted != totals_.end() ? compacted->second : TrackTotals();
  add(totals,
      totals_of({spans_.begin() + static_cast<std::ptrdiff_t>(totalled_count_), spans_.end()}, track));
  return totals;
}

void Timeline::begin_image(std::int64_t image) {
  const std::lock_guard lock(mutex_);
  image_ = image;
}

std::vector<Span> Timeline::spans() const {
  const std::lock_guard lock(mutex_);
  return spans_;
}

void Timeline::sample_memory() {
  constexpr std::size_t kMaxSamples = 2048;
  const std::lock_guard lock(mutex_);
  const double seconds = now();
  if (!memory_.empty() && seconds < memory_.back().seconds + min_sample_interval_) return;
  if (memory_.size() == kMaxSamples) {  // drop every second sample
    for (std::size_t i = 0; i < kMaxSamples / 2; ++i) memory_[i] = memory_[2 * i];
    memory_.resize(kMaxSamples / 2);
    min_sample_interval_ *= 2;
  }
  memory_.push_back({seconds, resident_bytes()});
}

std::vector<MemorySample> Timeline::memory() const {
  const std::lock_guard lock(mutex_);
  return memory_;
}

std::string step_of(const std::string& track) { return track.substr(0, track.find(' ')); }

double busy_seconds(const std::vector<Span>& spans, const std::string& track) {
  return length(union_of(spans, [&](const Span& span) { return span.track == track; }));
}

double hidden_seconds(const std::vector<Span>& spans, const std::string& track) {
  return common_length(union_of(spans, [&](const Span& span) { return span.track == track; }),
                       union_of(spans, [&](const Span& span) { return span.track != track; }));
}

}  // namespace sepconv
