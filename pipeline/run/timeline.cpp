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
Intervals union_of(const std::vector<Span>& spans, Predicate&& wanted) {
  Intervals intervals;
  for (const Span& span : spans) {
    if (wanted(span)) intervals.emplace_back(span.begin, span.end);
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

void add(TrackTotals& totals, const TrackTotals& more) {
  totals.busy_seconds += more.busy_seconds;
  totals.hidden_seconds += more.hidden_seconds;
  totals.bytes += more.bytes;
}

/// The first and the second, the third and the fourth of each track, where files are closed among themselves.
std::vector<Span> joined_pairs(const std::vector<Span>& spans) {
  std::vector<Span> joined;
  std::map<std::pair<std::string, bool>, std::size_t> open;  // those that wait for their second
  for (const Span& span : spans) {
    const std::pair key(span.track, span.band == Span::kClosing);
    const auto first = open.find(key);
    if (first == open.end()) {
      open[key] = joined.size();
      joined.push_back(span);
      continue;
    }
    Span& both = joined[first->second];
    both.begin = std::min(both.begin, span.begin);
    both.end = std::max(both.end, span.end);
    both.bytes += span.bytes;
    both.bands += span.bands;
    open.erase(first);
  }
  return joined;
}

}  // namespace

Timeline::Timeline(const Timeline& other) { *this = other; }

Timeline& Timeline::operator=(const Timeline& other) {
  if (this == &other) return *this;
  const std::scoped_lock lock(mutex_, other.mutex_);
  origin_ = other.origin_;
  spans_ = other.spans_;
  settled_ = other.settled_;
  totals_ = other.totals_;
  memory_ = other.memory_;
  return *this;
}

void Timeline::record(Span span) {
  const std::lock_guard lock(mutex_);
  span.image = image_;
  spans_.push_back(std::move(span));
  if (spans_.size() >= kMaxSpans) settle();
}

/// Joins neighbours of a track until half of the most are left, once the totals have them. Of tracks there
/// are few.
void Timeline::settle() {
  const std::vector<Span> since(spans_.begin() + static_cast<std::ptrdiff_t>(settled_), spans_.end());
  for (const std::string& track : tracks_of(since)) add(totals_[track], totals_of(since, track));
  while (spans_.size() > kMaxSpans / 2) spans_ = joined_pairs(spans_);
  settled_ = spans_.size();
}

TrackTotals Timeline::totals(const std::string& track) const {
  const std::lock_guard lock(mutex_);
  const auto settled = totals_.find(track);
  TrackTotals totals = settled != totals_.end() ? settled->second : TrackTotals();
  add(totals, totals_of({spans_.begin() + static_cast<std::ptrdiff_t>(settled_), spans_.end()}, track));
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

void Timeline::note_memory() {
  constexpr std::size_t kMax = 2048;
  const std::lock_guard lock(mutex_);
  const double seconds = now();
  if (!memory_.empty() && seconds < memory_.back().seconds + least_apart_) return;
  if (memory_.size() == kMax) {  // every second one goes
    for (std::size_t i = 0; i < kMax / 2; ++i) memory_[i] = memory_[2 * i];
    memory_.resize(kMax / 2);
    least_apart_ *= 2;
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
