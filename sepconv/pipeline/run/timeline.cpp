#include "sepconv/pipeline/run/timeline.hpp"

#include <algorithm>

#include "sepconv/pipeline/machine/host_resources.hpp"

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

}  // namespace

Timeline::Timeline(const Timeline& other)
    : origin_(other.origin_), spans_(other.spans()), memory_(other.memory()) {}

Timeline& Timeline::operator=(const Timeline& other) {
  if (this == &other) return *this;
  std::vector<Span> spans =
      other.spans();  // taken before the own lock, so that no two locks are ever held at once
  std::vector<MemorySample> memory = other.memory();
  const std::lock_guard lock(mutex_);
  origin_ = other.origin_;
  spans_ = std::move(spans);
  memory_ = std::move(memory);
  return *this;
}

void Timeline::record(Span span) {
  const std::lock_guard lock(mutex_);
  span.image = image_;
  spans_.push_back(std::move(span));
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
  constexpr std::size_t kMost = 2048;
  const std::lock_guard lock(mutex_);
  const double seconds = now();
  if (!memory_.empty() && seconds < memory_.back().seconds + least_apart_) return;
  if (memory_.size() == kMost) {  // every second one goes
    for (std::size_t i = 0; i < kMost / 2; ++i) memory_[i] = memory_[2 * i];
    memory_.resize(kMost / 2);
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
