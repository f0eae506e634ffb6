#include "pipeline/run/checkpoint_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "core/start_thread.hpp"
#include "pipeline/machine/thread_pool.hpp"

namespace sepconv {
namespace {

/// Number of records per result. Each record includes the writer's buffered data; records are rarer, down to
/// kMinRecords, so that a record's pixels are about kMinPixelsPerBuffered times that data.
constexpr std::int64_t kRecords = 50;
constexpr std::int64_t kMinRecords = 25;
constexpr std::int64_t kMinPixelsPerBuffered = 32;

/// The ranges of [0, count) that are not in `done`.
std::vector<BandRange> remaining_bands(std::vector<std::pair<std::int64_t, std::int64_t>> done,
                                       std::int64_t count) {
  std::ranges::sort(done);
  std::vector<BandRange> left;
  std::int64_t end = 0;
  for (const auto& [first, last] : done) {
    if (first > end) left.push_back({end, first});
    end = std::max(end, last);
  }
  if (end < count) left.push_back({end, count});
  return left;
}

}  // namespace

CheckpointWriter::CheckpointWriter(ImageJob& job, double sync_seconds)
    : job_(job), sync_seconds_(sync_seconds) {
  std::ranges::stable_sort(job_.done, {}, &CompletedBands::raster);
}

CheckpointWriter::~CheckpointWriter() { stop_syncing(); }

void CheckpointWriter::stop_syncing() {
  sync_thread_.request_stop();
  if (sync_thread_.joinable()) sync_thread_.join();
}

void CheckpointWriter::end() {
  stop_syncing();
  if (failure_) std::rethrow_exception(failure_);
}

std::vector<BandRange> CheckpointWriter::restore_raster(std::int64_t raster, Writer& sink, const Plan& plan,
                                                        const std::stop_token& stop) {
  sink_ = &sink;
  raster_ = raster;
  pending_ = {.raster = raster};
  const std::int64_t pixels = plan.region.area();
  pixels_per_record_ =
      std::clamp(kMinPixelsPerBuffered * sink.resumable()->buffered_bytes() / plan.result().pixel_bytes(),
                 ceil_div(pixels, kRecords), ceil_div(pixels, kMinRecords));
  std::vector<std::pair<std::int64_t, std::int64_t>> done;
  const auto records = std::ranges::equal_range(job_.done, raster, {}, &CompletedBands::raster);
  for (const CompletedBands& record : records)
    done.insert(done.end(), record.bands.begin(), record.bands.end());
  pixels_before_ = 0;
  if (!done.empty()) {
    ThreadPool pool({.threads = plan.threads}, stop);
    pixels_before_ = restore(records, pool);
  }
  pixels_remaining_ = pixels - pixels_before_;
  return remaining_bands(std::move(done), plan.band_count());
}

/// Restores the sink. States are moved out one by one, because those of a long run take as much memory as its
/// block tables.
std::int64_t CheckpointWriter::restore(std::span<CompletedBands> records, Executor& executor) try {
  const bool in_parts = job_.checkpoint->use() == Checkpoint::Use::all_parts;
  CompletedBands all;  // sum of all records, for results not written in parts
  std::int64_t pixels = 0;
  for (CompletedBands& record : records) {
    const WriterState state = std::exchange(record.state, {});
    pixels += record.pixels;
    if (in_parts) {
      sink_->resumable()->restore(record.pixels, state, record.files, executor);
    } else {
      all.state.add(state);
      all.files = record.files;
    }
  }
  if (!in_parts) sink_->resumable()->restore(pixels, all.state, all.files, executor);
  return pixels;
} catch (const std::out_of_range&) {
  throw IoError(job_.checkpoint->folder().native() + " lacks data of finished bands; discard it");
}

void CheckpointWriter::written(const Plan& plan, std::int64_t band) {
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }
  if (!job_.checkpoint->is_begun()) job_.checkpoint->begin(job_.job_manifest(plan));
  // Bands of several devices alternate, so there are as many ranges as devices.
  const auto before = std::ranges::find(pending_.bands, band, &std::pair<std::int64_t, std::int64_t>::second);
  if (before != pending_.bands.end()) {
    ++before->second;
  } else {
    pending_.bands.emplace_back(band, band + 1);
  }
  const std::int64_t pixels = plan.pixels_of({band, band + 1});
  pending_.pixels += pixels;
  pixels_remaining_ -= pixels;
  // Record the end of this raster before anything of the next one.
  if (pixels_remaining_ == 0 || pending_.pixels >= pixels_per_record_) record();
}

void CheckpointWriter::record() {
  pending_.state = sink_->resumable()->take_state();
  job_.checkpoint->append(std::exchange(pending_, {.raster = raster_}));
  if (sync_seconds_ == 0) return job_.checkpoint->sync();
  if (!sync_thread_.joinable())
    sync_thread_ = start_thread([this](const std::stop_token& stop) { sync_periodically(stop); });
}

void CheckpointWriter::sync_periodically(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, std::chrono::duration<double>(sync_seconds_), [] { return false; });
    if (stop.stop_requested()) return;
    lock.unlock();
    std::exception_ptr failed;
    try {
      job_.checkpoint->sync();
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    // The system reports lost data only once; another sync would succeed.
    if (failed) return void(failure_ = failed);
  }
}

}  // namespace sepconv
