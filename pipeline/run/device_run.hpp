// The streaming runner for GPUs: per device a ring of bands and threads for reading, uploading, computing and
// downloading; one thread writes. Internal to run().
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/device_ring.hpp"
#include "pipeline/run/nan_detector.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// Suffix of a track's name: empty if the run has one GPU, else " cuda:1".
std::string track_suffix(const Plan& plan, int device);

/// One streaming run on any number of GPUs. Each has a contiguous range of bands and a DeviceRing. Per ring:
///
/// - reader: waits until the slot's last band is uploaded; reads the rows that the device does not have yet
///   (or their encoded blocks)
/// - uploader: waits until band i is read and the device buffer is free; enqueues its upload and decoding
/// - computer: waits until band i's upload is enqueued, band i is decoded and the download of band i - slots
///   is enqueued; enqueues its kernels
/// - downloader: waits until band i's kernels are enqueued and band i - slots is written; enqueues its
///   download
///
/// One writer for all rings waits for band i's download and writes it to the sink. With one slot the reader
/// waits until the previous band is written, so nothing overlaps. The threads share only the number of bands
/// that each has finished; device work is synchronised by events. The first failure wakes all threads and is
/// thrown by execute().
class DeviceRun final : public Runner {
 public:
  /// Allocates all slots on the host and on every device. Throws OutOfMemory before anything is read.
  DeviceRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
            const ExecutionOptions& options);

  void execute(Timeline& timeline) override;
  int threads() const noexcept override { return pool_.concurrency(); }

 private:
  enum Role : std::size_t { kRead, kUpload, kCompute, kDownload, kWrite };

  struct Lane {
    std::unique_ptr<DeviceRing> ring;
    std::array<std::int64_t, 5> done{};  // bands finished, by role; under the state's lock
  };

  void read_second_images(Lane& lane, std::int64_t band, Timeline& timeline);
  void read_band(Lane& lane, std::int64_t band, Timeline& timeline);
  /// Searches the pixels that were read for the band, in host memory.
  void look_for_nan(const Lane& lane, std::int64_t band, const Rect& missing);
  void write_band(Lane& lane, std::int64_t band, Timeline& timeline);
  void read_all(Lane& lane, Timeline& timeline);
  void upload_all(Lane& lane);
  void compute_all(Lane& lane);
  void download_all(Lane& lane);
  void write_all(Timeline& timeline);

  /// Calls `work` with the lane's device current; an exception becomes the run's failure.
  void run_role(const Lane& lane, const std::function<void()>& work) noexcept;
  /// Waits until `role` has finished this many of the lane's bands; false when the run has failed.
  bool wait_for(const Lane& lane, Role role, std::int64_t bands);
  void finish_band(Lane& lane, Role role);

  Reader& source_;
  Writer& sink_;
  const Plan& plan_;
  NanDetector& nan_detector_;
  const ExecutionOptions& options_;
  BandRange bands_;
  RunState state_;
  std::vector<Lane> lanes_;
  ThreadPool pool_;  // reads and writes
};

}  // namespace sepconv
