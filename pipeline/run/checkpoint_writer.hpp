// A run that another can continue with: what it has written is recorded while it goes on. Internal to run().
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

#include "io/checkpoint.hpp"
#include "io/resumable.hpp"
#include "io/writer.hpp"
#include "pipeline/plan/file_job.hpp"

namespace sepconv {

/// Records go to the journal whenever a fiftieth of the result is written, and are on the disk with their
/// data some seconds later, by a thread of their own: neither waits for the disk. What a record speaks of has
/// been given to the system before it.
class CheckpointWriter {
 public:
  /// For all rasters of a job with a partial result. `sync_seconds` 0: each record is on the disk before the
  /// run goes on.
  CheckpointWriter(ImageJob& job, double sync_seconds);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();

  /// Puts the sink of a raster in the state that runs before left it in; returns the bands that are left. A
  /// stop of `stop` ends it with Cancelled.
  std::vector<BandRange> begin_raster(std::int64_t raster, Writer& sink, const Plan& plan,
                                      const std::stop_token& stop);
  /// A band of this raster was written. Throws IoError.
  void written(const Plan& plan, std::int64_t band);

  /// Before the result is completed, which is brought to the disk as a whole then. Throws what a sync has
  /// thrown.
  void end();

  /// For the raster at hand, pixels that runs before wrote.
  std::int64_t pixels_before() const noexcept { return pixels_before_; }

 private:
  void record();
  void sync_in_turns(const std::stop_token& stop);
  void stop_syncing();

  std::span<CompletedBands> done_of(std::int64_t raster) const;
  std::int64_t restore(std::int64_t raster, Executor& executor);

  ImageJob& job_;
  double sync_seconds_;
  Writer* sink_ = nullptr;
  std::int64_t raster_ = 0, pixels_before_ = 0, pixels_left_ = 0;
  std::int64_t pixels_at_once_ = 1;  // from record to record
  CompletedBands pending_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::exception_ptr failure_;
  std::jthread syncing_;
};

}  // namespace sepconv
