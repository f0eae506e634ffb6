// What one GPU does in a streaming run: its slots, streams and events, and the work of a band put on them.
// Internal to CudaRun.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "kernels/cuda/runtime.hpp"
#include "pipeline/plan/band_rows.hpp"
#include "pipeline/run/band_decoder.hpp"
#include "pipeline/run/band_encoder.hpp"
#include "pipeline/run/device_clock.hpp"
#include "pipeline/run/nan_detector.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// Three streams, so that the bus both ways and the kernels work on different bands at once, ordered by
/// events alone:
///
/// - upload: band i's missing rows, and all that it needs of second images, once the kernels that read the
///   same buffers of the device are done with band i - device_inputs
/// - compute: copies the rows that band i shares from band i - 1's buffer, once band i is uploaded; runs the
///   chain, once the result of band i - slots is downloaded
/// - download: band i's result, once it is computed; the host has written band i - slots by then
///
/// Where the device decodes, a slot has a stream for that, between upload and compute: a stream of deflate is
/// decoded in order, so that bands are decoded side by side. Encoding follows a band's kernels.
///
/// Bands go in ascending order. upload(), compute() and download() are each called by one thread; who calls
/// what when is CudaRun's business: before upload(i), compute(i - device_inputs + 1) has been called, and
/// before compute(i) download(i - slots).
class DeviceRing {
 public:
  /// Allocates everything. Throws OutOfMemory, before anything is read, and CudaError.
  DeviceRing(int device, const std::string& track_suffix, BandRange bands, Reader& source, Writer& sink,
             const Plan& plan, const NanDetector& watch, const ExecutionOptions& options);
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

  /// Where a band's part of each second image is to be read to, with its place in that image.
  std::vector<Region> secondary_inputs(std::int64_t band) const;
  const std::vector<SecondaryInput>& seconds() const noexcept { return seconds_; }

  /// Where the device decodes, in place of input(): reads the blocks that cover these rows, and returns their
  /// bytes.
  std::int64_t read_encoded(std::int64_t band, const Rect& missing, Executor& executor);

  void upload(std::int64_t band);
  /// Waits until the band is decoded; what the device refused the CPU decodes. Throws as Reader::read does.
  void finish_decoding(std::int64_t band, Executor& executor);
  void compute(std::int64_t band);
  /// Where the device encodes it waits until it has.
  void download(std::int64_t band);

  /// Waits until the band's result has arrived, and returns it, without data where the device encodes. Valid
  /// until download(band + slots).
  ConstPixelView wait_for_result(std::int64_t band) const;
  /// Then: whether the source of this band or of one before holds NaN that is looked for.
  bool has_found_nan() const;
  /// Where the device encodes: hands the blocks to the sink.
  void write_encoded(std::int64_t band, Executor& executor);
  /// For the result, as it crossed the bus.
  std::int64_t downloaded_bytes(std::int64_t band) const;

  /// From now on spans are recorded on this timeline's clock.
  void set_clock(const Timeline& timeline);
  /// Records when a band that has arrived was uploaded, computed and downloaded.
  void record_spans(std::int64_t band, Timeline& timeline) const;

 private:
  struct Slot {
    Buffer input;                 // page-locked; empty if the source is, or a decoder has the streams
    Buffer output;                // page-locked; empty if the sink is, or an encoder has them
    std::vector<Buffer> seconds;  // page-locked
    Buffer device_output;
  };
  using Interval = DeviceClock::Interval;
  /// For one band; used again for a later one when the host has recorded it.
  struct BandEvents {
    Interval upload, decode, compute, encode, download;
    Event shared_copied, table_arrived;
    std::int64_t uploaded_bytes = 0;
  };

  PixelView output(std::int64_t band) const;
  Region device_source(std::int64_t band) const;
  Region device_result(std::int64_t band) const;
  std::int64_t local(std::int64_t band) const noexcept { return band - bands_.first; }
  std::int64_t slot_index(std::int64_t band) const noexcept { return local(band) % plan_.slots; }
  const Slot& slot_of(std::int64_t band) const { return slots_[static_cast<std::size_t>(slot_index(band))]; }
  PixelView device_missing(std::int64_t band) const;
  /// What band holds of this second image, in `buffer`.
  Region resident_secondary(std::size_t second, std::int64_t band, const Buffer& buffer) const;
  std::vector<Region> device_seconds(std::int64_t band) const;
  void look_for_nan(std::int64_t band);
  void upload_pixels(std::int64_t band, const Rect& missing);
  void upload_seconds(std::int64_t band);
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
  const NanDetector& watch_;
  std::vector<Slot> slots_;
  std::vector<Buffer> device_inputs_;
  std::vector<SecondaryInput> seconds_;
  std::vector<std::vector<Buffer>> device_seconds_;  // of each second image as many as device_inputs_
  Arena arena_;                                      // of the compute stream
  Buffer resident_;
  Buffer found_nan_;  // page-locked; empty where there can be none
  Chain chain_;       // the plan's, with what it holds in resident_
  std::optional<BandDecoder> decoder_;
  std::optional<BandEncoder> encoder_;
  Stream upload_, compute_, download_;
  std::vector<BandEvents> events_;
  DeviceClock clock_;
};

}  // namespace sepconv
