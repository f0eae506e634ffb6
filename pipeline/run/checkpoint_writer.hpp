// Records the progress of a run in its checkpoint, so that a later run can resume it. Internal to run().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "io/checkpoint/checkpoint.hpp"
#include "io/resumable.hpp"
#include "io/writer.hpp"
#include "pipeline/job/file_job.hpp"

namespace sepconv {

/// Appends a record to the log after about every fiftieth of the result. A separate thread syncs data and
/// log to disk every few seconds, so the run does not wait for the disk. A record's data has been passed
/// to the system before the record.
class CheckpointWriter {
 public:
  /// For all rasters of a job with a partial result. If `sync_seconds` is 0, each record is synced before the
  /// run continues.
  CheckpointWriter(ImageJob& job, double sync_seconds);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();

  /// Restores the sink of a raster to its state after previous runs; returns the remaining bands. Throws
  /// Cancelled if `stop` is requested.
  std::vector<BandRange> restore_raster(std::int64_t raster, Writer& sink, const Plan& plan,
                                        const std::stop_token& stop);
  /// Notes that a band of this raster was written. Throws IoError.
  void written(const Plan& plan, std::int64_t band);

  /// Stops syncing, before the whole result is finished and synced. Throws the exception of a failed sync.
  void end();

  /// Pixels of the current raster that previous runs wrote.
  std::int64_t pixels_before() const noexcept { return pixels_before_; }

 private:
  void record();
  void sync_periodically(const std::stop_token& stop);
  void stop_syncing();

  std::int64_t restore(std::span<CompletedBands> records, Executor& executor);

  ImageJob& job_;
  double sync_seconds_;
  Writer* sink_ = nullptr;
  std::int64_t raster_ = 0, pixels_before_ = 0, pixels_remaining_ = 0;
  std::int64_t pixels_per_record_ = 1;
  CompletedBands pending_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::exception_ptr failure_;
  std::jthread sync_thread_;
};

}  // namespace sepconv
