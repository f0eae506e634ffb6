// The streaming runner of GPUs: five roles around the ring of each device. Internal to run().
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

/// What follows a track's name: nothing for a run's only GPU, else " cuda:1".
std::string track_suffix(const Plan& plan, int device);

/// One streaming run on any number of GPUs, each of which has a run of whole bands and a DeviceRing of its
/// own. Per ring:
///
/// - reader: waits until the slot's last band is uploaded; reads what the device does not hold yet: rows, or
///   blocks as they are stored
/// - uploader: waits until band i is read and the buffer on the device is free; puts its upload, and what
///   decodes it, on streams
/// - computer: waits until band i is uploaded, and decoded, and the download of band i - slots is enqueued;
///   puts its kernels on a stream
/// - downloader: waits until band i's kernels are enqueued and band i - slots is written; puts its download
/// on
///   a stream
///
/// and for all of them together the writer, which waits for band i's download and hands it to the sink. With
/// one slot the reader waits until the band before is written, so that nothing overlaps. What the roles share
/// is how many bands each has finished; the rest is ordered by events on the device. The first failure wakes
/// all and is what execute() throws.
class CudaRun {
 public:
  /// Allocates all slots, on the host and on every device. Throws OutOfMemory before anything is read.
  CudaRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& watch,
          const ExecutionOptions& options);

  /// As HostRun::execute.
  void execute(Timeline& timeline);
  /// What it computes, or reads and writes, with: the plan's threads, or as many as there were to be had.
  int threads() const noexcept { return pool_.concurrency(); }

 private:
  enum Role : std::size_t { kRead, kUpload, kCompute, kDownload, kWrite };

  struct DevicePipeline {
    std::unique_ptr<DeviceRing> ring;
    std::array<std::int64_t, 5> done{};  // bands finished, by role; under the state's lock
  };

  void read_seconds(DevicePipeline& lane, std::int64_t band, Timeline& timeline);
  void read_band(DevicePipeline& lane, std::int64_t band, Timeline& timeline);
  void write_band(DevicePipeline& lane, std::int64_t band, Timeline& timeline);
  void read_all(DevicePipeline& lane, Timeline& timeline);
  void upload_all(DevicePipeline& lane);
  void compute_all(DevicePipeline& lane);
  void download_all(DevicePipeline& lane);
  void write_all(Timeline& timeline);

  /// Calls `work` on the device, and keeps what it throws.
  void play(const DevicePipeline& lane, const std::function<void()>& work) noexcept;
  /// Waits until `role` has finished this many of the lane's bands; false when the run has failed.
  bool wait_for(const DevicePipeline& lane, Role role, std::int64_t bands);
  void finish_band(DevicePipeline& lane, Role role);

  Reader& source_;
  Writer& sink_;
  const Plan& plan_;
  NanDetector& watch_;
  const ExecutionOptions& options_;
  BandRange bands_;
  RunState state_;
  std::vector<DevicePipeline> lanes_;
  ThreadPool pool_;  // reads and writes
};

}  // namespace sepconv
