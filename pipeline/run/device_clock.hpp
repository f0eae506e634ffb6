// Converts device events to timeline seconds, and waits for streams. Internal to the GPU runners.
#pragma once

#include <initializer_list>
#include <string>

#include "kernels/device/runtime.hpp"
#include "pipeline/run/timeline.hpp"

namespace sepconv {

class DeviceClock {
 public:
  struct Interval {
    Event begin{Event::Timing::on};
    Event end{Event::Timing::on};
  };

  /// Sets the origin on this timeline's clock. `stream` belongs to the current device and must be idle.
  void set(const Timeline& timeline, const Stream& stream);
  /// Records a completed interval on the timeline.
  void record(const std::string& track, const Interval& interval, std::int64_t band, std::int64_t bytes,
              Timeline& timeline) const;

 private:
  Event origin_{Event::Timing::on};
  double origin_seconds_ = 0;  // time of origin_ on the timeline
};

/// Waits until the streams are idle. Ignores errors, because the run itself reports them.
void wait_for_end(std::initializer_list<const Stream*> streams) noexcept;

}  // namespace sepconv
