#include "pipeline/run/device_clock.hpp"

#include <limits>
#include <utility>

#include "core/error.hpp"

namespace sepconv {

/// The origin event is bracketed by two readings of the host clock; the closest pair of several attempts is
/// used.
void DeviceClock::set(const Timeline& timeline, const Stream& stream) {
  double min_difference = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 10; ++attempt) {
    Event event(Event::Timing::on);
    const double before = timeline.now();
    event.record(stream.get());
    stream.synchronize();
    const double after = timeline.now();
    if (after - before >= min_difference) continue;
    min_difference = after - before;
    origin_seconds_ = (before + after) / 2;
    origin_ = std::move(event);
  }
}

void DeviceClock::record(const std::string& track, const Interval& interval, std::int64_t band,
                         std::int64_t bytes, Timeline& timeline) const {
  const double begin = origin_seconds_ + interval.begin.seconds_since(origin_);
  timeline.record({track, band, begin, begin + interval.end.seconds_since(interval.begin), bytes});
}

void wait_for_end(std::initializer_list<const Stream*> streams) noexcept {
  for (const Stream* const stream : streams) {
    try {
      stream->synchronize();
    } catch (const Error&) {
    }
  }
}

}  // namespace sepconv
