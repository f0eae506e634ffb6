#include "pipeline/run/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sepconv {

StepReport step_report(const Timeline& timeline, const std::string& name) {
  const TrackTotals totals = timeline.totals(name);
  return {name, totals.busy_seconds, totals.hidden_seconds, totals.bytes, 0};
}

std::string device_text(const std::vector<int>& devices, int threads, std::string_view engine) {
  std::string text = fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s");
  if (!devices.empty()) {
    const std::vector<DeviceInfo> found = list_devices();
    const auto first = std::ranges::find(found, devices.front(), &DeviceInfo::index);
    text = fmt::format("cuda:{} {}", fmt::join(devices, ","), first != found.end() ? first->name : "GPU");
  }
  return engine.empty() ? text : fmt::format("{}, {}", text, engine);
}

std::string track_suffix(const Plan& plan, std::optional<int> device) {
  return plan.lanes().size() == 1 ? "" : " " + device_name(device);
}

void add_lanes(std::vector<LaneReport>& lanes, const std::vector<LaneReport>& other) {
  for (const LaneReport& added : other) {
    auto lane = std::ranges::find(lanes, added.device, &LaneReport::device);
    if (lane == lanes.end()) lane = lanes.insert(lane, {.device = added.device});
    lane->bands += added.bands;
    lane->pixels += added.pixels;
    if (lane->failure.empty()) lane->failure = added.failure;
  }
}

Overlap overlap_of(const RunReport& report) {
  double busy = 0;
  double copying = 0;
  double hidden = 0;
  for (const StepReport& step : report.steps) {
    busy += step.busy_seconds;
    const bool copies = report.plan.devices.empty()
                            ? step.name != "compute"
                            : step.name.starts_with("upload") || step.name.starts_with("download");
    if (!copies) continue;
    copying += step.busy_seconds;
    hidden += step.hidden_seconds;
  }
  return {safe_ratio(hidden, copying),
          std::max(1.0, safe_ratio(busy, report.wall_seconds - report.startup_seconds))};
}

}  // namespace sepconv
