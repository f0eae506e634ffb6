#include "pipeline/run/cuda_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/error.hpp"
#include "kernels/cuda/profiler_range.hpp"
#include "pipeline/run/wrap_reads.hpp"

namespace sepconv {
namespace {

/// The part of the bands that device `index` of `count` computes.
BandRange share_of(BandRange bands, std::size_t index, std::size_t count) {
  const auto at = [&](std::size_t i) {
    return bands.first + bands.count() * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(count);
  };
  return {at(index), at(index + 1)};
}

/// Runs `enqueue`; a failure of CUDA is told with the rows that the band computes.
template <class Enqueue>
void with_rows(const Plan& plan, std::int64_t band, const Enqueue& enqueue) {
  try {
    enqueue();
  } catch (const CudaError& error) {
    const Rect rect = plan.band_rect(band);
    throw CudaError(
        fmt::format("{}, in or before rows {} to {}", error.what(), rect.row, rect.row_end() - 1));
  }
}

}  // namespace

std::string track_suffix(const Plan& plan, int device) {
  return plan.devices.size() == 1 ? "" : fmt::format(" cuda:{}", device);
}

CudaRun::CudaRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& watch,
                 const ExecutionOptions& options)
    : source_(source),
      sink_(sink),
      plan_(plan),
      watch_(watch),
      options_(options),
      bands_(options.bands.value_or(plan.all_bands())),
      state_(bands_.count(), plan.pixels_of(bands_), plan.result().pixel_bytes(), options),
      pool_({.threads = plan.threads, .others = 4 * static_cast<int>(plan.devices.size())},
            state_.stop_token()) {
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const BandRange bands = share_of(bands_, i, plan.devices.size());
    if (bands.first == bands.end) continue;  // fewer bands than devices
    const int device = plan.devices[i];
    const DeviceScope scope(device);
    lanes_.push_back({std::make_unique<DeviceRing>(device, track_suffix(plan, device), bands, source, sink,
                                                   plan, watch, options),
                      {}});
  }
}

void CudaRun::execute(Timeline& timeline) {
  for (DevicePipeline& lane : lanes_) {
    const DeviceScope scope(lane.ring->device());
    lane.ring->set_clock(timeline);
  }
  state_.run_to_end([&](Roles& roles) {
    for (DevicePipeline& lane : lanes_) {
      roles.start([&] { play(lane, [&] { read_all(lane, timeline); }); });
      roles.start([&] { play(lane, [&] { upload_all(lane); }); });
      roles.start([&] { play(lane, [&] { compute_all(lane); }); });
      roles.start([&] { play(lane, [&] { download_all(lane); }); });
    }
    write_all(timeline);
  });
}

void CudaRun::play(const DevicePipeline& lane, const std::function<void()>& work) noexcept {
  state_.attempt([&] {
    set_current_device(lane.ring->device());
    work();
  });
}

void CudaRun::read_all(DevicePipeline& lane, Timeline& timeline) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    const bool free =
        plan_.slots == 1 ? wait_for(lane, kWrite, local) : wait_for(lane, kUpload, local - plan_.slots + 1);
    if (!free) return;
    with_rows(plan_, band, [&] { lane.ring->wait_for_input(band); });
    read_band(lane, band, timeline);
    finish_band(lane, kRead);
  }
}

void CudaRun::read_seconds(DevicePipeline& lane, std::int64_t band, Timeline& timeline) {
  const std::vector<Region> regions = lane.ring->secondary_inputs(band);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::int64_t bytes = regions[i].rect.area() * regions[i].pixels.pixel_bytes();
    const double begin = timeline.now();
    read_periodic(*lane.ring->seconds()[i].reader, regions[i].rect, regions[i].pixels, pool_);
    timeline.record({"read", band, begin, timeline.now(), bytes});
    state_.add_bytes_read(bytes);
  }
}

void CudaRun::read_band(DevicePipeline& lane, std::int64_t band, Timeline& timeline) {
  read_seconds(lane, band, timeline);
  const Rect missing = lane.ring->rows_of(band).missing;
  if (missing.empty()) return;
  const std::int64_t bytes = missing.area() * plan_.source().pixel_bytes();
  const double begin = timeline.now();
  const ProfilerRange range("read", band);
  if (plan_.decodes_on_devices()) {
    const std::int64_t stored = lane.ring->read_encoded(band, missing, pool_);
    timeline.record({"read", band, begin, timeline.now(), stored});
  } else if (const PixelView input = lane.ring->input(band, missing); input.data != nullptr) {
    read_periodic(source_, missing, input, pool_);
    if (options_.observer != nullptr) options_.observer->see_source(missing, input);
    timeline.record({"read", band, begin, timeline.now(), bytes});
  }
  state_.add_bytes_read(bytes);
}

void CudaRun::upload_all(DevicePipeline& lane) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    const std::int64_t computed = local - device_inputs(plan_.slots) + 2;
    if (!wait_for(lane, kRead, local + 1) || !wait_for(lane, kCompute, computed)) return;
    with_rows(plan_, band, [&] { lane.ring->upload(band); });
    finish_band(lane, kUpload);
  }
}

void CudaRun::compute_all(DevicePipeline& lane) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    if (!wait_for(lane, kUpload, local + 1)) return;
    if (plan_.decodes_on_devices()) with_rows(plan_, band, [&] { lane.ring->finish_decoding(band, pool_); });
    if (!wait_for(lane, kDownload, local - plan_.slots + 1)) return;
    with_rows(plan_, band, [&] { lane.ring->compute(band); });
    finish_band(lane, kCompute);
  }
}

void CudaRun::download_all(DevicePipeline& lane) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    if (!wait_for(lane, kCompute, local + 1) || !wait_for(lane, kWrite, local - plan_.slots + 1)) return;
    with_rows(plan_, band, [&] { lane.ring->download(band); });
    finish_band(lane, kDownload);
  }
}

/// The devices take turns, so that a sink with room for all of them keeps none waiting long.
void CudaRun::write_all(Timeline& timeline) {
  std::int64_t most = 0;
  for (const DevicePipeline& lane : lanes_)
    most = std::max(most, lane.ring->bands().end - lane.ring->bands().first);
  for (std::int64_t local = 0; local < most; ++local) {
    for (DevicePipeline& lane : lanes_) {
      const std::int64_t band = lane.ring->bands().first + local;
      if (band >= lane.ring->bands().end) continue;
      if (!wait_for(lane, kDownload, local + 1)) return;
      const DeviceScope scope(lane.ring->device());
      write_band(lane, band, timeline);
      finish_band(lane, kWrite);
    }
  }
}

void CudaRun::write_band(DevicePipeline& lane, std::int64_t band, Timeline& timeline) {
  const Rect rect = plan_.sink_rect(band);
  ConstPixelView result;
  with_rows(plan_, band, [&] { result = lane.ring->wait_for_result(band); });
  if (lane.ring->has_found_nan()) watch_.find();
  lane.ring->record_spans(band, timeline);
  const std::int64_t bytes = lane.ring->downloaded_bytes(band);
  const double begin = timeline.now();
  {
    const ProfilerRange range("write", band);
    if (options_.observer != nullptr && !plan_.encodes_on_devices())
      options_.observer->see_result(rect, result);
    plan_.encodes_on_devices() ? lane.ring->write_encoded(band, pool_) : sink_.write(rect, result, pool_);
  }
  const bool in_place = sink_.page_locked(rect).data != nullptr;
  if (!in_place) timeline.record({"write", band, begin, timeline.now(), bytes});
  if (options_.written) options_.written(plan_, band);
  state_.report_written(rect, timeline);
}

bool CudaRun::wait_for(const DevicePipeline& lane, Role role, std::int64_t bands) {
  return state_.wait_until([&] { return lane.done[role] >= bands; });
}

void CudaRun::finish_band(DevicePipeline& lane, Role role) {
  state_.update([&] { ++lane.done[role]; });
}

}  // namespace sepconv
