// The slots, streams and events of one GPU in a streaming run, and functions that enqueue a band's work.
// Internal to DeviceLane.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/run/band_decoder.hpp"
#include "pipeline/run/band_encoder.hpp"
#include "pipeline/run/device_clock.hpp"
#include "pipeline/run/lane.hpp"

namespace sepconv {

/// Three streams, so that uploads, kernels and downloads of different bands overlap. They are synchronised by
/// events alone:
///
/// - upload: turn i's missing rows and its input from second images, once the kernels of turn
///   i - device_inputs, which used the same device buffers, are done
/// - compute: copies the rows that turn i shares from turn i - 1's buffer, once turn i is uploaded; runs the
///   chain, once the result of turn i - slots is downloaded
/// - download: turn i's result, once it is computed; the host has written turn i - slots by then
///
/// If the device decodes, each slot has a stream for that between upload and compute. A deflate stream is
/// decoded sequentially, so several bands are decoded concurrently. Encoding follows a band's kernels.
///
/// Turns are processed in ascending order. upload(), compute() and download() are each called by
/// one thread. DeviceLane ensures that compute(i - device_inputs + 1) is called before upload(i), and
/// download(i - slots) before compute(i).
class DeviceRing {
 public:
  /// Allocates all memory. Throws OutOfMemory before anything is read, and DeviceError.
  DeviceRing(int device, const Turns& turns, const RunContext& context);
  DeviceRing(DeviceRing&&) = delete;
  /// Waits for the work on its streams.
  ~DeviceRing();

  BandRows rows_of(std::int64_t turn) const;

  /// Waits until the page-locked rows that turn - slots was uploaded from may be overwritten. upload(turn -
  /// slots) has been called.
  void wait_for_input(std::int64_t turn) const;
  /// The buffer for a band's missing rows; without data if the source is in page-locked memory.
  PixelView input(std::int64_t turn, const Rect& missing) const;

  /// The buffers for a band's part of each second image, with their rectangles in these images.
  std::vector<Region> secondary_inputs(std::int64_t turn) const;
  const std::vector<SecondaryInput>& second_images() const noexcept { return second_images_; }

  /// If the device decodes, use this instead of input(): reads the encoded blocks that cover these rows, and
  /// returns their size in bytes.
  std::int64_t read_encoded(std::int64_t turn, const Rect& missing, Executor& executor);

  void upload(std::int64_t turn);
  /// Waits until the band is decoded; the CPU decodes blocks that the device rejected. Throws as Reader::read
  /// does.
  void finish_decoding(std::int64_t turn, Executor& executor);
  void compute(std::int64_t turn);
  /// Enqueues the download. If the device encodes, waits until it has finished.
  void download(std::int64_t turn);

  /// Waits until the band's result is downloaded, and returns it; without data if the device encodes. Valid
  /// until download(turn + slots).
  ConstPixelView wait_for_result(std::int64_t turn) const;
  /// Call after wait_for_result(): whether NaN was found in the source of this or an earlier band.
  bool has_found_nan() const;
  /// If the device encodes: writes the blocks to the sink.
  void write_encoded(std::int64_t turn, Executor& executor);
  /// Size of the band's result as downloaded, in bytes.
  std::int64_t downloaded_bytes(std::int64_t turn) const;

  /// Sets the timeline whose clock record_spans() uses.
  void set_clock(const Timeline& timeline);
  /// Records when a downloaded band was uploaded, computed and downloaded.
  void record_spans(std::int64_t turn, Timeline& timeline) const;

 private:
  struct Slot {
    Buffer input;   // page-locked; empty if the source is page-locked or the device decodes
    Buffer output;  // page-locked; empty if the sink is page-locked or the device encodes
    std::vector<Buffer> second_images;  // page-locked
    Buffer device_output;
  };
  using Interval = DeviceClock::Interval;
  /// The events of one band, reused for a later band once the host has recorded this one.
  struct BandEvents {
    Interval upload, decode, compute, encode, download;
    Event shared_copied, table_arrived;
    std::int64_t uploaded_bytes = 0;
  };

  PixelView output(std::int64_t turn) const;
  Region device_source(std::int64_t turn) const;
  Region device_result(std::int64_t turn) const;
  std::int64_t slot_index(std::int64_t turn) const noexcept { return turn % plan_.slots; }
  const Slot& slot_of(std::int64_t turn) const { return slots_[static_cast<std::size_t>(slot_index(turn))]; }
  Rect band_rect(std::int64_t turn) const { return plan_.band_rect(turns_.band(turn)); }
  PixelView device_missing(std::int64_t turn) const;
  /// The band's part of a second image, in `buffer`.
  Region resident_secondary(std::size_t image_index, std::int64_t turn, const Buffer& buffer) const;
  std::vector<Region> device_second_images(std::int64_t turn) const;
  void look_for_nan(std::int64_t turn);
  void upload_pixels(std::int64_t turn, const Rect& missing);
  void upload_second_images(std::int64_t turn);
  const BandEvents& events_of(std::int64_t turn) const {
    return events_[static_cast<std::size_t>(turn) % events_.size()];
  }
  void record_span(const char* track, const Interval& interval, std::int64_t turn, std::int64_t bytes,
                   Timeline& timeline) const;

  std::string track_suffix_;
  const Turns& turns_;
  const Reader& source_;
  const Writer& sink_;
  const Plan& plan_;
  const NanDetector& nan_detector_;
  std::vector<Slot> slots_;
  std::vector<Buffer> device_inputs_;
  std::vector<SecondaryInput> second_images_;
  std::vector<std::vector<Buffer>> device_second_images_;  // per second image, as many as device_inputs_
  Arena arena_;                                            // scratch of the compute stream
  Buffer resident_;
  Buffer found_nan_;  // page-locked flag; empty if the source cannot contain NaN
  Chain chain_;       // the plan's chain, with its data in resident_
  std::optional<BandDecoder> decoder_;
  std::optional<BandEncoder> encoder_;
  Stream upload_, compute_, download_;
  std::vector<BandEvents> events_;
  DeviceClock clock_;
};

}  // namespace sepconv
