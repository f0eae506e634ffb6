// The bands of a lane. Internal to StreamingRun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/plan/band_rows.hpp"

namespace sepconv {

/// Which band each turn of a lane has. A turn is the index of a band among the lane's. Kept are the turns from
/// the one before that whose result is being written to the one that is being read: on a GPU at most one for
/// each source buffer on the device, and three for each slot (its source, its result on the device and in host
/// memory).
class Turns {
 public:
  explicit Turns(const Plan& plan)
      : plan_(plan), turns_(static_cast<std::size_t>(device_inputs(plan.slots) + 3 * plan.slots + 1)) {}

  /// Assigns a band to a turn before its first role begins it.
  void assign(std::int64_t turn, std::int64_t band) {
    const bool follows = turn > 0 && at(turn - 1).band + 1 == band;
    turns_[static_cast<std::size_t>(turn) % turns_.size()] = {band, follows};
  }
  std::int64_t band(std::int64_t turn) const { return at(turn).band; }
  Rect sink_rect(std::int64_t turn) const { return plan_.sink_rect(band(turn)); }
  /// The rows of the turn's band. Those that it shares with the band before are in memory if that was the
  /// lane's previous turn.
  BandRows rows_of(std::int64_t turn, const SourceLayout& layout, std::size_t stage_index = 0) const {
    return band_rows(plan_, layout, band(turn), at(turn).follows, stage_index);
  }

 private:
  struct Turn {
    std::int64_t band = 0;
    bool follows = false;  // the previous turn has the band before
  };
  const Turn& at(std::int64_t turn) const { return turns_[static_cast<std::size_t>(turn) % turns_.size()]; }

  const Plan& plan_;
  std::vector<Turn> turns_;
};

}  // namespace sepconv
