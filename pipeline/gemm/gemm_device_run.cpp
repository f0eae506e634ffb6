#include "pipeline/gemm/gemm_device_run.hpp"

#include <algorithm>

#include "kernels/device/copy_rows_by_kernel.hpp"
#include "kernels/device/profiler_range.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kStepsInFlight = 32;

/// Copies a panel. Rows of a panel are not contiguous, and copy engines are slow for short rows.
void copy_panel(const ConstPixelView& from, const PixelView& to, DeviceStream stream) {
  const bool short_rows = !(from.contiguous() && to.contiguous()) && from.row_bytes() < kLongBusRow;
  short_rows ? copy_pixels_by_kernel(from, to, stream) : copy_pixels(from, to, stream);
}

}  // namespace

GemmDeviceRun::GemmDeviceRun(const GemmFiles& files, const GemmPlan& plan, const ExecutionOptions& options)
    : scope_(plan.devices.front()),
      files_(files),
      plan_(plan),
      options_(options),
      steps_(gemm_steps(plan)),
      strips_(strips_of(steps_, files.out.is_page_locked() ? plan.rows : plan.strip_rows)),
      device_(plan, device_memory(options)),
      events_(static_cast<std::size_t>(std::max<std::int64_t>(kStepsInFlight, 2 * plan.slots))),
      strip_events_(kStripsInFlight),
      tile_downloaded_(static_cast<std::size_t>(plan.tiles)),
      state_(std::ssize(strips_), plan.result().extent.area(), plan.result().pixel_bytes(), options),
      pool_({.threads = plan.threads, .others = 3}, state_.stop_token()) {
  const std::int64_t strip_bytes = plan.strip_rows * plan.cols * plan.element_bytes();
  if (plan.stages_a)
    staged_a_ =
        Buffer(plan.slots * plan.rows * plan.a_depth() * plan.element_bytes(), pinned_memory(options));
  if (plan.stages_b)
    staged_b_ = Buffer(plan.slots * plan.depth * plan.cols * plan.element_bytes(), pinned_memory(options));
  if (!files.out.is_page_locked())
    staged_strips_ = Buffer(kStripsInFlight * strip_bytes, pinned_memory(options));
  if (files.added != nullptr && !files.added->is_page_locked())
    staged_added_ = Buffer(kStripsInFlight * strip_bytes, pinned_memory(options));
}

std::vector<GemmDeviceRun::Strip> GemmDeviceRun::strips_of(const std::vector<GemmStep>& steps,
                                                           std::int64_t strip_rows) {
  std::vector<Strip> strips;
  for (std::int64_t index = 0; index < std::ssize(steps); ++index) {
    const GemmStep& current = steps[static_cast<std::size_t>(index)];
    for (std::int64_t row = 0; current.last && row < current.result.rows; row += strip_rows) {
      const std::int64_t rows = std::min(strip_rows, current.result.rows - row);
      strips.push_back({index,
                        {current.result.row + row, current.result.col, rows, current.result.cols},
                        row + rows == current.result.rows});
    }
  }
  return strips;
}

GemmDeviceRun::~GemmDeviceRun() { wait_for_end({&upload_, &compute_, &download_}); }

void GemmDeviceRun::execute(Timeline& timeline) {
  clock_.set(timeline, compute_);
  state_.run_to_end([&](Roles& roles) {
    roles.start([&] { run_role([&] { read_all(timeline); }); });
    roles.start([&] { run_role([&] { upload_all(timeline); }); });
    roles.start([&] { run_role([&] { download_all(); }); });
    write_all(timeline);
  });
}

void GemmDeviceRun::run_role(const std::function<void()>& role) noexcept {
  state_.attempt([&] {
    set_current_device(plan_.devices.front());
    role();
  });
}

PixelView GemmDeviceRun::staged_a(std::int64_t index) const {
  if (staged_a_.data() == nullptr) return {};
  const std::int64_t slot_bytes = staged_a_.size() / plan_.slots;
  return dense_view(staged_a_.data() + index % plan_.slots * slot_bytes,
                    ImageSpec{stored_a(plan_.op, step(index)).extent(), 1, plan_.type});
}

PixelView GemmDeviceRun::staged_b(std::int64_t index) const {
  if (staged_b_.data() == nullptr || !step(index).loads_b) return {};
  const std::int64_t slot_bytes = staged_b_.size() / plan_.slots;
  return dense_view(staged_b_.data() + index % plan_.slots * slot_bytes,
                    ImageSpec{stored_b(plan_.op, step(index)).extent(), 1, plan_.type});
}

/// The host memory that a strip is downloaded to.
PixelView GemmDeviceRun::strip_view(std::int64_t strip) const {
  const Rect rect = strips_[static_cast<std::size_t>(strip)].rect;
  if (staged_strips_.data() == nullptr) return files_.out.page_locked(rect);
  return dense_view(
      staged_strips_.data() + strip % kStripsInFlight * (staged_strips_.size() / kStripsInFlight),
      ImageSpec{rect.extent(), 1, plan_.type});
}

void GemmDeviceRun::read_all(Timeline& timeline) {
  for (std::int64_t index = 0; index < std::ssize(steps_); ++index) {
    if (!state_.wait_until([&] { return enqueued_ > index - plan_.slots; })) return;
    const PixelView a = staged_a(index), b = staged_b(index);
    const bool is_staged = a.data != nullptr || b.data != nullptr;
    if (is_staged && index >= plan_.slots)
      events_of(index - plan_.slots)
          .upload.end.synchronize();  // the slot's previous panels have been uploaded
    const double begin = timeline.now();
    const ProfilerRange range("read", index);
    if (a.data != nullptr) files_.a.read(stored_a(plan_.op, step(index)), a, pool_);
    if (b.data != nullptr) files_.b.read(stored_b(plan_.op, step(index)), b, pool_);
    const std::int64_t bytes = a.extent.rows * a.row_bytes() + b.extent.rows * b.row_bytes();
    if (is_staged) timeline.record({"read", index, begin, timeline.now(), bytes});
    state_.add_bytes_read(a_bytes(step(index)) + b_bytes(step(index)));
    state_.update([&] { ++read_; });
  }
}

/// Records a completed step on the timeline, so that its events can be reused.
void GemmDeviceRun::retire(std::int64_t index, Timeline& timeline) {
  const StepEvents& events = events_of(index);
  events.compute.end.synchronize();
  const std::int64_t panels = a_bytes(step(index)) + b_bytes(step(index));
  const std::int64_t tile = step(index).result.area() * plan_.element_bytes();
  clock_.record("upload", events.upload, index,
                panels + (step(index).first && files_.added != nullptr ? tile : 0), timeline);
  clock_.record("compute", events.compute, index, panels + tile, timeline);
}

void GemmDeviceRun::upload_all(Timeline& timeline) {
  const auto in_flight = std::ssize(events_);
  for (std::int64_t index = 0; index < std::ssize(steps_); ++index) {
    if (!state_.wait_until([&] { return read_ > index && tiles_enqueued_ > step(index).tile_free_after; }))
      return;
    if (index >= in_flight) retire(index - in_flight, timeline);
    // Enqueue no more steps than there are slots: a stop waits for all enqueued work.
    if (index > plan_.slots) events_of(index - plan_.slots - 1).compute.end.synchronize();
    upload(index, timeline);
    compute(index);
    state_.update([&] { ++enqueued_; });
  }
  for (std::int64_t index = std::max<std::int64_t>(0, std::ssize(steps_) - in_flight);
       index < std::ssize(steps_); ++index)
    retire(index, timeline);
}

void GemmDeviceRun::wait_for_step(std::int64_t index, DeviceStream stream) const {
  // Older steps have been retired; their events are already reused.
  const std::int64_t oldest = enqueued_ - std::ssize(events_) + 1;
  if (index >= 0 && index >= oldest)
    events_[static_cast<std::size_t>(index) % events_.size()].compute.end.make_stream_wait(stream);
}

void GemmDeviceRun::upload(std::int64_t index, Timeline& timeline) {
  const ProfilerRange range("upload", index);
  const GemmStep& current = step(index);
  wait_for_step(current.a_free_after, upload_.get());
  if (current.loads_b) wait_for_step(current.b_free_after, upload_.get());
  StepEvents& events = events_of(index);
  events.upload.begin.record(upload_.get());
  const PixelView a = staged_a(index), b = staged_b(index);
  copy_panel(a.data != nullptr ? ConstPixelView(a) : files_.a.page_locked(stored_a(plan_.op, current)),
             device_.a(current, index), upload_.get());
  if (current.loads_b)
    copy_panel(b.data != nullptr ? ConstPixelView(b) : files_.b.page_locked(stored_b(plan_.op, current)),
               device_.b(current, index), upload_.get());
  if (current.first && files_.added != nullptr) upload_added(current, timeline);
  events.upload.end.record(upload_.get());
}

/// Copies the added matrix into the tile, which accumulates the product.
void GemmDeviceRun::upload_added(const GemmStep& current, Timeline& timeline) {
  if (current.tile_free_after >= 0)
    tile_downloaded_[static_cast<std::size_t>(current.tile_free_after % plan_.tiles)].make_stream_wait(
        upload_.get());
  const PixelView tile = device_.tile(current);
  state_.add_bytes_read(current.result.area() * plan_.element_bytes());
  if (staged_added_.data() == nullptr)
    return copy_pixels(files_.added->page_locked(current.result), tile, upload_.get());
  Event uploaded[kStripsInFlight];
  for (std::int64_t row = 0, strip = 0; row < tile.extent.rows; row += plan_.strip_rows, ++strip) {
    const Rect part{row, 0, std::min(plan_.strip_rows, tile.extent.rows - row), tile.extent.cols};
    const std::int64_t slot = strip % kStripsInFlight;
    if (strip >= kStripsInFlight) uploaded[slot].synchronize();
    const PixelView staged =
        dense_view(staged_added_.data() + slot * (staged_added_.size() / kStripsInFlight),
                   ImageSpec{part.extent(), 1, plan_.type});
    const double begin = timeline.now();
    files_.added->read({current.result.row + row, current.result.col, part.rows, part.cols}, staged, pool_);
    timeline.record({"read", current.tile, begin, timeline.now(), part.area() * plan_.element_bytes()});
    copy_pixels(staged, tile.crop(part), upload_.get());
    uploaded[slot].record(upload_.get());
  }
  upload_.synchronize();  // the strip buffers are reused for the next tile
}

void GemmDeviceRun::compute(std::int64_t index) {
  const ProfilerRange range("compute", index);
  const GemmStep& current = step(index);
  StepEvents& events = events_of(index);
  events.upload.end.make_stream_wait(compute_.get());
  if (current.first && current.tile_free_after >= 0)
    tile_downloaded_[static_cast<std::size_t>(current.tile_free_after % plan_.tiles)].make_stream_wait(
        compute_.get());
  events.compute.begin.record(compute_.get());
  gemm_device(op_of(plan_, current), device_.a(current, index), device_.b(current, index),
              device_.tile(current), compute_.get());
  events.compute.end.record(compute_.get());
}

void GemmDeviceRun::download_all() {
  for (std::int64_t strip = 0; strip < std::ssize(strips_); ++strip) {
    const Strip& current = strips_[static_cast<std::size_t>(strip)];
    if (!state_.wait_until([&] { return enqueued_ > current.step && written_ > strip - kStripsInFlight; }))
      return;
    const ProfilerRange range("download", step(current.step).tile);
    const PixelView tile = device_.tile(step(current.step));
    const Rect result = step(current.step).result;
    // If a later step has reused the event, this waits for that step.
    events_of(current.step).compute.end.make_stream_wait(download_.get());
    const DeviceClock::Interval& interval = strip_events_[static_cast<std::size_t>(strip % kStripsInFlight)];
    interval.begin.record(download_.get());
    copy_pixels(tile.crop({current.rect.row - result.row, 0, current.rect.rows, current.rect.cols}),
                strip_view(strip), download_.get());
    interval.end.record(download_.get());
    if (current.last)
      tile_downloaded_[static_cast<std::size_t>(step(current.step).tile % plan_.tiles)].record(
          download_.get());
    state_.update([&] {
      ++strips_enqueued_;
      if (current.last) ++tiles_enqueued_;
    });
  }
}

void GemmDeviceRun::write_all(Timeline& timeline) {
  for (std::int64_t strip = 0; strip < std::ssize(strips_); ++strip) {
    if (!state_.wait_until([&] { return strips_enqueued_ > strip; })) return;
    const DeviceClock::Interval& interval = strip_events_[static_cast<std::size_t>(strip % kStripsInFlight)];
    interval.end.synchronize();
    const Rect rect = strips_[static_cast<std::size_t>(strip)].rect;
    const std::int64_t bytes = rect.area() * plan_.element_bytes();
    clock_.record("download", interval, strip, bytes, timeline);
    const double begin = timeline.now();
    {
      const ProfilerRange range("write", strip);
      files_.out.write(rect, strip_view(strip), pool_);
    }
    if (staged_strips_.data() != nullptr) timeline.record({"write", strip, begin, timeline.now(), bytes});
    state_.update([&] { ++written_; });
    state_.report_written(rect, timeline);
  }
}

}  // namespace sepconv
