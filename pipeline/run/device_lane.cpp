#include "pipeline/run/device_lane.hpp"

#include <fmt/format.h>

#include "kernels/device/optional_kernels.hpp"
#include "kernels/device/profiler_range.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/run/wrap_reads.hpp"

namespace sepconv {

DeviceLane::DeviceLane(int device, const RunContext& context)
    : Lane(context), ring_(device, turns_, context) {}

template <class Enqueue>
void DeviceLane::with_rows(std::int64_t turn, const Enqueue& enqueue) const {
  try {
    enqueue();
  } catch (const DeviceError& error) {
    const Rect rect = context_.plan.band_rect(turns_.band(turn));
    throw DeviceError(
        fmt::format("{}, in or before rows {} to {}", error.what(), rect.row, rect.row_end() - 1));
  }
}

std::vector<LaneRole> DeviceLane::roles() {
  const Plan& plan = context_.plan;
  const std::int64_t slots = plan.slots;
  const bool decodes = plan.decodes_on_devices();
  const std::size_t read = 0, upload = 1, decoded = decodes ? 2 : 1, compute = decoded + 1,
                    download = compute + 1, write = download + 1;
  const auto enqueues = [this](void (DeviceRing::*enqueue)(std::int64_t)) {
    return [this, enqueue](std::int64_t turn) { with_rows(turn, [&] { (ring_.*enqueue)(turn); }); };
  };
  std::vector<LaneRole> roles{
      {{slots == 1 ? LaneRole::Wait{write, 1} : LaneRole::Wait{upload, slots}},
       [this](std::int64_t turn) { this->read(turn); }},
      {{{read, 0}, {compute, device_inputs(plan.slots) - 1}}, enqueues(&DeviceRing::upload)},
  };
  if (decodes)
    roles.push_back({{{upload, 0}}, [this](std::int64_t turn) {
                       with_rows(turn, [&] { ring_.finish_decoding(turn, context_.copying); });
                     }});
  roles.push_back({{{decoded, 0}, {download, slots}}, enqueues(&DeviceRing::compute)});
  roles.push_back({{{compute, 0}, {write, slots}}, enqueues(&DeviceRing::download)});
  return roles;
}

void DeviceLane::begin(Timeline& timeline) {
  Lane::begin(timeline);
  ring_.set_clock(timeline);
}

void DeviceLane::read(std::int64_t turn) {
  with_rows(turn, [&] { ring_.wait_for_input(turn); });
  read_second_images(turn);
  if (const Rect missing = ring_.rows_of(turn).missing; !missing.empty()) read_missing(turn, missing);
}

void DeviceLane::read_second_images(std::int64_t turn) {
  const std::vector<Region> regions = ring_.secondary_inputs(turn);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::int64_t bytes = regions[i].rect.area() * regions[i].pixels.pixel_bytes();
    const double begin = timeline_->now();
    read_periodic(*ring_.second_images()[i].reader, regions[i].rect, regions[i].pixels, context_.copying);
    timeline_->record({"read", turns_.band(turn), begin, timeline_->now(), bytes});
    context_.state.add_bytes_read(bytes);
  }
}

void DeviceLane::read_missing(std::int64_t turn, const Rect& missing) {
  const std::int64_t bytes = missing.area() * context_.plan.source().pixel_bytes();
  const double begin = timeline_->now();
  const ProfilerRange range("read", turns_.band(turn));
  if (context_.plan.decodes_on_devices()) {
    const std::int64_t stored = ring_.read_encoded(turn, missing, context_.copying);
    timeline_->record({"read", turns_.band(turn), begin, timeline_->now(), stored});
  } else if (const PixelView input = ring_.input(turn, missing); input.data != nullptr) {
    read_periodic(context_.source, missing, input, context_.copying);
    if (context_.options.observer != nullptr) context_.options.observer->observe_source(missing, input);
    timeline_->record({"read", turns_.band(turn), begin, timeline_->now(), bytes});
  }
  if (!backend_has(DeviceKernels::nan_search)) look_for_nan(turn, missing);
  context_.state.add_bytes_read(bytes);
}

void DeviceLane::look_for_nan(std::int64_t turn, const Rect& missing) {
  if (const PixelView input = ring_.input(turn, missing); input.data != nullptr)
    return context_.nan_detector.inspect(input, context_.copying);
  for (const PeriodicPiece& piece : periodic_pieces(missing, context_.plan.source().extent))
    context_.nan_detector.inspect(context_.source.page_locked(piece.inside), context_.copying);
}

void DeviceLane::wait_for_result(std::int64_t turn) {
  with_rows(turn, [&] { result_ = ring_.wait_for_result(turn); });
  if (ring_.has_found_nan()) context_.nan_detector.set_found();
  ring_.record_spans(turn, *timeline_);
}

void DeviceLane::write(std::int64_t turn) {
  const Rect rect = turns_.sink_rect(turn);
  const bool encodes = context_.plan.encodes_on_devices();
  const std::int64_t bytes = ring_.downloaded_bytes(turn);
  const double begin = timeline_->now();
  const ProfilerRange range("write", turns_.band(turn));
  if (context_.options.observer != nullptr && !encodes)
    context_.options.observer->observe_result(rect, result_);
  encodes ? ring_.write_encoded(turn, context_.copying)
          : context_.sink.write(rect, result_, context_.copying);
  const bool is_direct = context_.sink.page_locked(rect).data != nullptr;
  if (!is_direct) timeline_->record({"write", turns_.band(turn), begin, timeline_->now(), bytes});
}

}  // namespace sepconv
