#include "pipeline/run/device_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/error.hpp"
#include "kernels/device/optional_kernels.hpp"
#include "kernels/device/profiler_range.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/run/wrap_reads.hpp"

namespace sepconv {
namespace {

/// The range of bands that device `index` of `count` computes.
BandRange bands_of_device(BandRange bands, std::size_t index, std::size_t count) {
  const auto boundary = [&](std::size_t i) {
    return bands.first + bands.count() * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(count);
  };
  return {boundary(index), boundary(index + 1)};
}

/// Calls `enqueue` and adds the band's rows to the message of a DeviceError.
template <class Enqueue>
void with_rows(const Plan& plan, std::int64_t band, const Enqueue& enqueue) {
  try {
    enqueue();
  } catch (const DeviceError& error) {
    const Rect rect = plan.band_rect(band);
    throw DeviceError(
        fmt::format("{}, in or before rows {} to {}", error.what(), rect.row, rect.row_end() - 1));
  }
}

}  // namespace

std::string track_suffix(const Plan& plan, int device) {
  return plan.devices.size() == 1 ? "" : fmt::format(" cuda:{}", device);
}

DeviceRun::DeviceRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
                     const ExecutionOptions& options)
    : source_(source),
      sink_(sink),
      plan_(plan),
      nan_detector_(nan_detector),
      options_(options),
      bands_(options.bands.value_or(plan.all_bands())),
      state_(bands_.count(), plan.pixels_of(bands_), plan.result().pixel_bytes(), options),
      pool_({.threads = plan.threads, .others = 4 * static_cast<int>(plan.devices.size())},
            state_.stop_token()) {
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const BandRange bands = bands_of_device(bands_, i, plan.devices.size());
    if (bands.first == bands.end) continue;  // fewer bands than devices
    const int device = plan.devices[i];
    const DeviceScope scope(device);
    lanes_.push_back({std::make_unique<DeviceRing>(device, track_suffix(plan, device), bands, source, sink,
                                                   plan, nan_detector, options),
                      {}});
  }
}

void DeviceRun::execute(Timeline& timeline) {
  for (Lane& lane : lanes_) {
    const DeviceScope scope(lane.ring->device());
    lane.ring->set_clock(timeline);
  }
  state_.run_to_end([&](Roles& roles) {
    for (Lane& lane : lanes_) {
      roles.start([&] { run_role(lane, [&] { read_all(lane, timeline); }); });
      roles.start([&] { run_role(lane, [&] { upload_all(lane); }); });
      roles.start([&] { run_role(lane, [&] { compute_all(lane); }); });
      roles.start([&] { run_role(lane, [&] { download_all(lane); }); });
    }
    write_all(timeline);
  });
}

void DeviceRun::run_role(const Lane& lane, const std::function<void()>& work) noexcept {
  state_.attempt([&] {
    set_current_device(lane.ring->device());
    work();
  });
}

void DeviceRun::read_all(Lane& lane, Timeline& timeline) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    const bool is_free =
        plan_.slots == 1 ? wait_for(lane, kWrite, local) : wait_for(lane, kUpload, local - plan_.slots + 1);
    if (!is_free) return;
    with_rows(plan_, band, [&] { lane.ring->wait_for_input(band); });
    read_band(lane, band, timeline);
    finish_band(lane, kRead);
  }
}

void DeviceRun::read_second_images(Lane& lane, std::int64_t band, Timeline& timeline) {
  const std::vector<Region> regions = lane.ring->secondary_inputs(band);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::int64_t bytes = regions[i].rect.area() * regions[i].pixels.pixel_bytes();
    const double begin = timeline.now();
    read_periodic(*lane.ring->second_images()[i].reader, regions[i].rect, regions[i].pixels, pool_);
    timeline.record({"read", band, begin, timeline.now(), bytes});
    state_.add_bytes_read(bytes);
  }
}

void DeviceRun::read_band(Lane& lane, std::int64_t band, Timeline& timeline) {
  read_second_images(lane, band, timeline);
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
    if (options_.observer != nullptr) options_.observer->observe_source(missing, input);
    timeline.record({"read", band, begin, timeline.now(), bytes});
  }
  if (!backend_has(DeviceKernels::nan_search)) look_for_nan(lane, band, missing);
  state_.add_bytes_read(bytes);
}

void DeviceRun::look_for_nan(const Lane& lane, std::int64_t band, const Rect& missing) {
  if (const PixelView input = lane.ring->input(band, missing); input.data != nullptr)
    return nan_detector_.inspect(input, pool_);
  for (const PeriodicPiece& piece : periodic_pieces(missing, plan_.source().extent))
    nan_detector_.inspect(source_.page_locked(piece.inside), pool_);
}

void DeviceRun::upload_all(Lane& lane) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    const std::int64_t computed = local - device_inputs(plan_.slots) + 2;
    if (!wait_for(lane, kRead, local + 1) || !wait_for(lane, kCompute, computed)) return;
    with_rows(plan_, band, [&] { lane.ring->upload(band); });
    finish_band(lane, kUpload);
  }
}

void DeviceRun::compute_all(Lane& lane) {
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

void DeviceRun::download_all(Lane& lane) {
  const BandRange bands = lane.ring->bands();
  for (std::int64_t band = bands.first; band < bands.end; ++band) {
    const std::int64_t local = band - bands.first;
    if (!wait_for(lane, kCompute, local + 1) || !wait_for(lane, kWrite, local - plan_.slots + 1)) return;
    with_rows(plan_, band, [&] { lane.ring->download(band); });
    finish_band(lane, kDownload);
  }
}

/// Writes the devices' bands in round-robin order, so that no device waits long.
void DeviceRun::write_all(Timeline& timeline) {
  std::int64_t max_bands = 0;
  for (const Lane& lane : lanes_)
    max_bands = std::max(max_bands, lane.ring->bands().end - lane.ring->bands().first);
  for (std::int64_t local = 0; local < max_bands; ++local) {
    for (Lane& lane : lanes_) {
      const std::int64_t band = lane.ring->bands().first + local;
      if (band >= lane.ring->bands().end) continue;
      if (!wait_for(lane, kDownload, local + 1)) return;
      const DeviceScope scope(lane.ring->device());
      write_band(lane, band, timeline);
      finish_band(lane, kWrite);
    }
  }
}

void DeviceRun::write_band(Lane& lane, std::int64_t band, Timeline& timeline) {
  const Rect rect = plan_.sink_rect(band);
  ConstPixelView result;
  with_rows(plan_, band, [&] { result = lane.ring->wait_for_result(band); });
  if (lane.ring->has_found_nan()) nan_detector_.set_found();
  lane.ring->record_spans(band, timeline);
  const std::int64_t bytes = lane.ring->downloaded_bytes(band);
  const double begin = timeline.now();
  {
    const ProfilerRange range("write", band);
    if (options_.observer != nullptr && !plan_.encodes_on_devices())
      options_.observer->observe_result(rect, result);
    plan_.encodes_on_devices() ? lane.ring->write_encoded(band, pool_) : sink_.write(rect, result, pool_);
  }
  const bool is_direct = sink_.page_locked(rect).data != nullptr;
  if (!is_direct) timeline.record({"write", band, begin, timeline.now(), bytes});
  if (options_.written) options_.written(plan_, band);
  state_.report_written(rect, timeline);
}

bool DeviceRun::wait_for(const Lane& lane, Role role, std::int64_t bands) {
  return state_.wait_until([&] { return lane.done[role] >= bands; });
}

void DeviceRun::finish_band(Lane& lane, Role role) {
  state_.update([&] { ++lane.done[role]; });
}

}  // namespace sepconv
