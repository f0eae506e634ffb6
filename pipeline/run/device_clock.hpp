// Where a device's events lie on a timeline, and the end of its streams. Internal to the runners on GPUs.
#pragma once

#include <initializer_list>
#include <string>

#include "kernels/cuda/runtime.hpp"
#include "pipeline/run/timeline.hpp"

namespace sepconv {

class DeviceClock {
 public:
  struct Interval {
    Event begin{Event::Timing::on};
    Event end{Event::Timing::on};
  };

  /// From now on intervals are told on this timeline's clock. `stream` of the current device has nothing to
  /// do.
  void set(const Timeline& timeline, const Stream& stream);
  /// Records an interval that has passed.
  void record(const std::string& track, const Interval& interval, std::int64_t band, std::int64_t bytes,
              Timeline& timeline) const;

 private:
  Event origin_{Event::Timing::on};
  double origin_seconds_ = 0;  // of origin_ on the timeline
};

/// Waits until streams have done what they were given. What fails there was or will be reported by the run;
/// here only the end counts.
void wait_for_end(std::initializer_list<const Stream*> streams) noexcept;

}  // namespace sepconv
