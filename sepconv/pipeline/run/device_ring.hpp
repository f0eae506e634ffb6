// What one GPU does in a streaming run: its slots, streams and events, and the work of a band put on them.
// Internal to CudaRun.
#pragma once

#include <string>
#include <vector>

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"
#include "sepconv/pipeline/plan/band_rows.hpp"
#include "sepconv/pipeline/run/device_clock.hpp"
#include "sepconv/pipeline/run/run.hpp"

namespace sepconv {

/// Three streams, so that the bus both ways and the kernels work on different bands at once, ordered by
/// events alone:
///
///   upload    band i's missing rows, once the kernels that read the same buffer of the device are done with
///   band i - device_inputs compute   copies the rows that band i shares from band i - 1's buffer, once band
///   i is uploaded; runs the chain, once the result
///             of band i - slots is downloaded
///   download  band i's result, once it is computed; the host has written band i - slots by then
///
/// Bands go in ascending order. upload() and compute() are called by one thread, download() by one thread;
/// who calls what when is CudaRun's business: before compute(i), download(i - slots) has been called.
class DeviceRing {
 public:
  /// Allocates everything. Throws OutOfMemory, before anything is read, and CudaError.
  DeviceRing(int device, const std::string& track_suffix, BandRange bands, const Reader& source,
             const Writer& sink, const Plan& plan, const ExecutionOptions& options);
  DeviceRing(DeviceRing&&) = delete;
  /// Waits for the work of its own streams.
  ~DeviceRing();

  int device() const noexcept { return device_; }
  BandRange bands() const noexcept { return bands_; }
  BandRows rows_of(std::int64_t band) const;

  /// Waits until the page-locked rows that band - slots was uploaded from may be overwritten. upload(band -
  /// slots) has been called.
  void wait_for_input(std::int64_t band) const;
  /// Where the missing rows of a band are to be read to; no data if the source has them in page-locked memory
  /// already.
  PixelView input(std::int64_t band, const Rect& missing) const;

  void upload(std::int64_t band);
  void compute(std::int64_t band);
  void download(std::int64_t band);

  /// Waits until the band's result has arrived, and returns it. Valid until download(band + slots).
  ConstPixelView wait_for_result(std::int64_t band) const;

  /// From now on spans are recorded on this timeline's clock.
  void set_clock(const Timeline& timeline);
  /// Records when a band that has arrived was uploaded, computed and downloaded.
  void record_spans(std::int64_t band, Timeline& timeline) const;

 private:
  struct Slot {
    Buffer input;   // page-locked; empty if the source is
    Buffer output;  // page-locked; empty if the sink is
    Buffer device_output;
  };
  using Interval = DeviceClock::Interval;
  /// Of one band; used again for a later one when the host has recorded it.
  struct BandEvents {
    Interval upload, compute, download;
    Event shared_copied;
  };

  PixelView output(std::int64_t band) const;
  Region device_source(std::int64_t band) const;
  Region device_result(std::int64_t band) const;
  std::int64_t local(std::int64_t band) const noexcept { return band - bands_.first; }
  const Slot& slot_of(std::int64_t band) const {
    return slots_[static_cast<std::size_t>(local(band) % plan_.slots)];
  }
  const BandEvents& events_of(std::int64_t band) const {
    return events_[static_cast<std::size_t>(local(band)) % events_.size()];
  }
  void record_span(const char* track, const Interval& interval, std::int64_t band, std::int64_t bytes,
                   Timeline& timeline) const;

  int device_;
  std::string track_suffix_;
  BandRange bands_;
  const Reader& source_;
  const Writer& sink_;
  const Plan& plan_;
  std::vector<Slot> slots_;
  std::vector<Buffer> device_inputs_;
  Arena arena_;  // of the compute stream
  Buffer resident_;
  Chain chain_;  // the plan's, with what it holds in resident_
  Stream upload_, compute_, download_;
  std::vector<BandEvents> events_;
  DeviceClock clock_;
};

}  // namespace sepconv
