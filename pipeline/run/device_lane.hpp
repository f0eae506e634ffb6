// A GPU's part of a streaming run. Internal to StreamingRun.
#pragma once

#include <vector>

#include "pipeline/run/device_ring.hpp"
#include "pipeline/run/lane.hpp"

namespace sepconv {

/// - reader: waits until the slot's last band is uploaded; reads the rows that the device does not have yet
///   (or their encoded blocks)
/// - uploader: waits until turn i is read and the device buffer is free; enqueues its upload and decoding
/// - decoder, if the device decodes: waits until turn i is decoded; the CPU decodes the rejected blocks
/// - computer: waits until turn i's upload is enqueued, it is decoded and the download of turn i - slots is
///   enqueued; enqueues its kernels
/// - downloader: waits until turn i's kernels are enqueued and turn i - slots is written; enqueues its
///   download
/// - writer: waits for turn i's download
///
/// With one slot the reader waits until the previous band is written, so nothing overlaps. Work on the device
/// is synchronised by events.
class DeviceLane final : public Lane {
 public:
  /// Allocates all slots on the host and on the device, which must be current. Throws OutOfMemory before
  /// anything is read, and DeviceError.
  DeviceLane(int device, const RunContext& context);

  std::vector<LaneRole> roles() override;
  void begin(Timeline& timeline) override;
  void wait_for_result(std::int64_t turn) override;
  void write(std::int64_t turn) override;

 private:
  void read(std::int64_t turn);
  void read_second_images(std::int64_t turn);
  void read_missing(std::int64_t turn, const Rect& missing);
  /// Searches the pixels that were read for the turn, in host memory.
  void look_for_nan(std::int64_t turn, const Rect& missing);
  /// Calls `enqueue` and adds the band's rows to the message of a DeviceError.
  template <class Enqueue>
  void with_rows(std::int64_t turn, const Enqueue& enqueue) const;

  DeviceRing ring_;
  ConstPixelView result_;  // of the turn that is written
};

}  // namespace sepconv
