#include "pipeline/run/streaming_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "core/error.hpp"
#include "pipeline/plan/device_choice.hpp"
#include "pipeline/run/device_lane.hpp"
#include "pipeline/run/host_lane.hpp"

namespace sepconv {
namespace {

constexpr int kHostThreads = 3, kDeviceThreads = 6;  // roles of a lane

int role_threads(const Plan& plan) {
  return (plan.uses_cpu() ? kHostThreads : 0) + kDeviceThreads * static_cast<int>(plan.devices.size());
}

std::vector<BandQueue::Lane> predicted_lanes(const Plan& plan) {
  std::vector<BandQueue::Lane> lanes;
  for (const std::optional<int> device : plan.lanes())
    lanes.push_back(
        device ? BandQueue::Lane{plan.predicted.device_band, plan.with_cpu ? plan.predicted.start : 0}
               : BandQueue::Lane{plan.predicted.cpu_band});
  return lanes;
}

}  // namespace

StreamingRun::StreamingRun(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
                           ClippingSamples& clipping, const ExecutionOptions& options)
    : plan_(plan),
      options_(options),
      bands_(options.bands.value_or(plan.all_bands())),
      state_(bands_.count(), plan.pixels_of(bands_), plan.result().pixel_bytes(), options),
      pool_({.threads = plan.threads, .others = role_threads(plan) - 1}, state_.stop_token()),
      context_{source,       sink,     plan,
               nan_detector, clipping, options,
               state_,       pool_,    plan.with_cpu ? pool_.preferred() : pool_},
      begins_later_(plan.with_cpu),
      queue_(bands_, predicted_lanes(plan)) {
  for (const std::optional<int> device : plan.lanes()) {
    LaneState& lane = lanes_.emplace_back(LaneState{device, nullptr});
    lane.report.device = device_name(device);
    if (!device || !begins_later_) lane.lane = make_lane(device);
  }
}

std::unique_ptr<Lane> StreamingRun::make_lane(std::optional<int> device) const {
  if (!device) return std::make_unique<HostLane>(context_);
  const DeviceScope scope(*device);
  return std::make_unique<DeviceLane>(*device, context_);
}

void StreamingRun::execute(Timeline& timeline) {
  state_.run_to_end([&](Roles& threads) {
    for (std::size_t index = 1; index < lanes_.size(); ++index)
      threads.start([this, index, &timeline] { run_lane(index, timeline); });
    run_lane(0, timeline);
  });
}

bool StreamingRun::may_fail(const LaneState& lane) const noexcept {
  return lane.device && plan_.with_cpu && plan_.asked.choose_device;
}

template <class Work>
void StreamingRun::attempt(LaneState& lane, const Work& work) noexcept {
  const auto end_lane = [&](const char* reason) {
    if (!may_fail(lane)) throw;
    state_.update([&] {
      if (!lane.has_failed) lane.report.failure = reason;
      lane.has_failed = true;
    });
  };
  state_.attempt([&] {
    try {
      work();
    } catch (const DeviceError& error) {
      end_lane(error.what());
    } catch (const OutOfMemory& error) {
      end_lane(error.what());
    } catch (const std::bad_alloc&) {
      end_lane("memory ran out");
    }
  });
}

void StreamingRun::run_lane(std::size_t index, Timeline& timeline) noexcept {
  LaneState& lane = lanes_[index];
  {
    Roles threads;  // joined after a failure was noted, which ends them
    attempt(lane, [&] { start_roles(index, threads, timeline); });
  }
  if (!lane.has_failed) return;
  // No thread of the lane is left that could write one of its bands.
  lane.lane.reset();
  state_.update([&] { queue_.give_back(index); });
}

bool StreamingRun::is_over() {
  bool is_done = false;
  return !state_.wait_until([&] { return is_done = queue_.is_done(), true; }) || is_done;
}

/// Makes the lane if necessary, starts the threads of its roles and runs the writer.
void StreamingRun::start_roles(std::size_t index, Roles& threads, Timeline& timeline) {
  LaneState& lane = lanes_[index];
  if (lane.lane == nullptr) {
    open_devices({*lane.device});
    if (is_over()) return;
    lane.lane = make_lane(lane.device);
  }
  std::optional<DeviceScope> scope;
  if (lane.device) scope.emplace(*lane.device);
  lane.lane->begin(timeline);
  lane.roles = lane.lane->roles();
  const std::size_t writer = lane.roles.size();
  lane.roles.push_back(
      {{{writer - 1, 0}}, [this, index, &timeline](std::int64_t turn) { write(index, turn, timeline); }});
  lane.done.resize(lane.roles.size());
  state_.update([&] { queue_.begin(index); });
  for (std::size_t role = 0; role < writer; ++role)
    threads.start([this, index, role] { run_role(index, role); });
  run_role(index, writer);
}

void StreamingRun::run_role(std::size_t index, std::size_t role) {
  LaneState& lane = lanes_[index];
  attempt(lane, [&] {
    if (lane.device) set_current_device(*lane.device);
    for (std::int64_t turn = 0; wait_for_turn(index, role, turn); ++turn) {
      lane.roles[role].step(turn);
      state_.update([&] { ++lane.done[role]; });
    }
  });
}

bool StreamingRun::wait_for_turn(std::size_t index, std::size_t role, std::int64_t turn) {
  LaneState& lane = lanes_[index];
  bool is_ready = false;
  const bool runs = state_.wait_until([&] {
    if (lane.has_failed || queue_.is_done()) return true;
    for (const auto& [previous, turns_before] : lane.roles[role].waits)
      if (lane.done[previous] <= turn - turns_before) return false;
    if (role == 0) {
      const std::optional<std::int64_t> band = queue_.take(index, clock_.now());
      if (!band) return false;
      lane.lane->turns().assign(turn, *band);
    }
    return is_ready = true;
  });
  return runs && is_ready;
}

void StreamingRun::write(std::size_t index, std::int64_t turn, Timeline& timeline) {
  LaneState& lane = lanes_[index];
  lane.lane->wait_for_result(turn);
  const std::int64_t band = lane.lane->turns().band(turn);
  const Rect rect = plan_.sink_rect(band);
  const std::scoped_lock lock(sink_mutex_);
  if (!state_.wait_until([] { return true; })) return;  // the sink may have failed
  // Any failure ends the run: a band that may be written in part must not be written again.
  state_.attempt([&] {
    lane.lane->write(turn);
    if (options_.written) options_.written(plan_, band);
    state_.report_written(rect, timeline);
    state_.update([&] {
      queue_.finish(index, band, clock_.now());
      ++lane.report.bands;
      lane.report.pixels += rect.area();
    });
  });
}

std::vector<LaneReport> StreamingRun::lanes() const {
  std::vector<LaneReport> reports;
  for (const LaneState& lane : lanes_) reports.push_back(lane.report);
  return reports;
}

std::vector<std::string> StreamingRun::warnings() const {
  std::vector<std::string> warnings;
  for (const LaneState& lane : lanes_)
    if (lane.has_failed)
      warnings.push_back(
          fmt::format("{} failed after {} of its bands, and the other devices computed the rest: {}",
                      lane.report.device, lane.report.bands, lane.report.failure));
  return warnings;
}

}  // namespace sepconv
