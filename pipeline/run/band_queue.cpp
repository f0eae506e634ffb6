#include "pipeline/run/band_queue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sepconv {
namespace {

constexpr double kMinBandSeconds = 1e-9;

/// Seconds until all lanes that begin before would have computed `bands`.
double common_end(const std::vector<BandQueue::Lane>& lanes, double bands) {
  std::vector<BandQueue::Lane> by_start = lanes;
  std::ranges::sort(by_start, {}, &BandQueue::Lane::start_seconds);
  double rate = 0, end = std::numeric_limits<double>::infinity();
  double delayed_bands = bands;  // and those that lanes would have computed before their start
  for (const BandQueue::Lane& lane : by_start) {
    if (lane.start_seconds >= end) break;
    rate += 1 / lane.band_seconds;
    delayed_bands += lane.start_seconds / lane.band_seconds;
    end = delayed_bands / rate;
  }
  return end;
}

}  // namespace

BandQueue::BandQueue(BandRange bands, const std::vector<Lane>& lanes) : unfinished_(bands.count()) {
  std::vector<Lane> predicted = lanes;
  for (Lane& lane : predicted) lane.band_seconds = std::max(lane.band_seconds, kMinBandSeconds);
  const double end = common_end(predicted, static_cast<double>(bands.count()));
  double share = 0;
  std::int64_t first = bands.first;
  for (const Lane& lane : predicted) {
    share += std::max(0.0, end - lane.start_seconds) / lane.band_seconds;
    const bool is_last = lanes_.size() + 1 == predicted.size();
    const std::int64_t range_end =
        is_last ? bands.end : std::min(bands.end, bands.first + std::lround(share));
    lanes_.push_back({lane.band_seconds, lane.start_seconds, {first, range_end}});
    first = range_end;
  }
}

void BandQueue::begin(std::size_t lane) { lanes_[lane].has_begun = true; }

double BandQueue::band_seconds(const LaneState& lane, double now) {
  if (lane.taken.empty()) return lane.band_seconds;
  return std::max(lane.band_seconds, now - std::max(lane.last_finish, lane.taken.front().at));
}

double BandQueue::backlog_seconds(const LaneState& lane, double now) {
  const double start = lane.has_begun ? 0 : std::max(0.0, lane.start_seconds - now);
  return start + static_cast<double>(lane.taken.size()) * band_seconds(lane, now);
}

std::int64_t BandQueue::waiting_bands() const noexcept {
  std::int64_t bands = 0;
  for (const LaneState& lane : lanes_) bands += lane.rest.count();
  for (const BandRange& range : returned_) bands += range.count();
  return bands;
}

double BandQueue::seconds_without(std::size_t lane, double now) const {
  const bool is_idle = lanes_[lane].taken.empty();
  std::vector<Lane> others;
  double first_end = std::numeric_limits<double>::infinity();  // of one more band
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i == lane || lanes_[i].has_ended || (is_idle && !lanes_[i].has_begun)) continue;
    others.push_back({band_seconds(lanes_[i], now), backlog_seconds(lanes_[i], now)});
    first_end = std::min(first_end, others.back().start_seconds + others.back().band_seconds);
  }
  return others.empty() ? first_end
                        : std::max(first_end, common_end(others, static_cast<double>(waiting_bands())));
}

std::optional<std::int64_t> BandQueue::take(std::size_t lane, double now) {
  LaneState& taker = lanes_[lane];
  if (taker.has_ended) return std::nullopt;
  if (backlog_seconds(taker, now) + band_seconds(taker, now) > seconds_without(lane, now))
    return std::nullopt;
  if (taker.rest.count() == 0) refill(taker, now);
  if (taker.rest.count() == 0) return std::nullopt;
  taker.taken.push_back({taker.rest.first, now});
  return taker.rest.first++;
}

/// Gives the lane a returned range, or the end of the range of the lane that would end last.
void BandQueue::refill(LaneState& lane, double now) {
  if (!returned_.empty()) {
    lane.rest = returned_.front();
    returned_.erase(returned_.begin());
    return;
  }
  const auto end_of = [&](const LaneState& other) {
    return other.rest.count() == 0 ? -1
                                   : backlog_seconds(other, now) +
                                         static_cast<double>(other.rest.count()) * band_seconds(other, now);
  };
  LaneState& last = *std::ranges::max_element(lanes_, {}, end_of);
  if (last.rest.count() == 0) return;
  const double both = band_seconds(lane, now) + band_seconds(last, now);
  const auto share = std::floor((end_of(last) - backlog_seconds(lane, now)) / both);
  const auto count =
      static_cast<std::int64_t>(std::clamp(share, 1.0, static_cast<double>(last.rest.count())));
  lane.rest = {last.rest.end - count, last.rest.end};
  last.rest.end -= count;
}

void BandQueue::finish(std::size_t lane, std::int64_t band, double now) {
  LaneState& finisher = lanes_[lane];
  const auto taken = std::ranges::find(finisher.taken, band, &Taken::band);
  const double seconds = std::max(kMinBandSeconds, now - std::max(finisher.last_finish, taken->at));
  finisher.band_seconds = finisher.is_measured ? (finisher.band_seconds + seconds) / 2 : seconds;
  finisher.is_measured = true;
  finisher.last_finish = now;
  finisher.taken.erase(taken);
  --unfinished_;
}

void BandQueue::give_back(std::size_t lane) {
  LaneState& ended = lanes_[lane];
  ended.has_ended = true;
  for (const Taken& taken : ended.taken) returned_.push_back({taken.band, taken.band + 1});
  if (ended.rest.count() > 0) returned_.push_back(ended.rest);
  ended.taken.clear();
  ended.rest = {};
  std::ranges::sort(returned_, {}, &BandRange::first);
}

}  // namespace sepconv
