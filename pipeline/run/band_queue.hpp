// Which lane of a run computes which band. Arithmetic without threads and clocks. Internal to StreamingRun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// Deals bands to lanes. A lane is one device with its own slots. All bands are split into a range per lane,
/// proportional to the predicted rates, so that a lane computes neighbouring bands, which share rows. A lane
/// without bands takes a part of the range of the lane that would end last, so that both end together.
///
/// A lane gets no band if the other lanes would finish all remaining bands before the lane has computed this
/// one. Lanes that have not begun do not count if the lane is idle. So the fastest idle lane is never refused,
/// and the bands are always completed. A lane that was refused asks again after any change.
///
/// Times are in seconds since the beginning of the run. Not thread-safe.
class BandQueue {
 public:
  /// The prediction for a lane.
  struct Lane {
    double band_seconds = 1;   ///< per band, if bands follow each other; replaced by measured times
    double start_seconds = 0;  ///< before its first band
  };
  BandQueue(BandRange bands, const std::vector<Lane>& lanes);

  /// The lane can compute.
  void begin(std::size_t lane);
  /// The lane's next band; nullopt if the lane gets no band now.
  std::optional<std::int64_t> take(std::size_t lane, double now);
  /// The lane's band is written.
  void finish(std::size_t lane, std::int64_t band, double now);
  /// The lane ends early. All its bands that are not finished are dealt to the others.
  void give_back(std::size_t lane);

  /// Whether all bands are finished.
  bool is_done() const noexcept { return unfinished_ == 0; }

 private:
  struct Taken {
    std::int64_t band;
    double at;
  };
  struct LaneState {
    double band_seconds, start_seconds;
    BandRange rest{};            ///< bands it takes next
    std::vector<Taken> taken{};  ///< not finished, oldest first
    double last_finish = 0;
    bool is_measured = false, has_begun = false, has_ended = false;
  };

  /// Seconds per band, by the prediction or measured; at least as long as the current band takes already.
  static double band_seconds(const LaneState& lane, double now);
  /// Seconds until the lane's taken bands are finished.
  static double backlog_seconds(const LaneState& lane, double now);
  /// Seconds until lanes other than this one would have finished all bands; infinity if there are none.
  double seconds_without(std::size_t lane, double now) const;
  std::int64_t waiting_bands() const noexcept;
  void refill(LaneState& lane, double now);

  std::vector<LaneState> lanes_;
  std::vector<BandRange> returned_;  ///< ranges of lanes that have ended
  std::int64_t unfinished_;
};

}  // namespace sepconv
