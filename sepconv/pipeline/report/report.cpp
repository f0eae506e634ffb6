#include "sepconv/pipeline/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sepconv/core/bytes_text.hpp"
#include "sepconv/core/printable.hpp"
#include "sepconv/pipeline/machine/host_resources.hpp"
#include "sepconv/pipeline/plan/plan_json.hpp"

namespace sepconv {

namespace {

using nlohmann::json;

constexpr std::int64_t kMostLimitBytes = std::int64_t{64} << 20;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Seconds that a step would take at the machine's limits: copying, while arithmetic goes on.
double least_seconds(const StepReport& step, const Plan& plan, const RunLimits& limits) {
  const bool on_device = !plan.devices.empty();
  const auto bytes = static_cast<double>(step.bytes);
  const bool computes = step.name.starts_with("compute");
  // The bus goes both ways at once in a run, so that is its limit.
  if (on_device && (step.name.starts_with("upload") || step.name.starts_with("download")))
    return ratio(bytes, limits.device.duplex_bytes_per_second);
  if (step.name.starts_with("decode") || step.name.starts_with("encode"))
    return ratio(2 * bytes, limits.device.copy_bytes_per_second);
  if (on_device && computes) {
    const bool wide = plan.arithmetic == Arithmetic::f64;
    return std::max(
        ratio(bytes, limits.device.copy_bytes_per_second),
        ratio(step.operations, wide ? limits.device.fma_f64_per_second : limits.device.fma_f32_per_second));
  }
  // The bytes of compute are those that it reads and those that it writes; the others' are moved from here to
  // there.
  return std::max(ratio(bytes * (computes ? 1 : 2), limits.host.copy_bytes_per_second),
                  ratio(step.operations, limits.host.fma_per_second));
}

/// Whether it moves results; the others move source pixels.
bool is_of_result(const StepReport& step) {
  return step.name == "write" || step.name.starts_with("encode") || step.name.starts_with("download");
}

/// Pixels that a step has had. Compute moves source and result, and where blocks are coded on devices others
/// move streams: theirs are those of the result, halos of the source aside.
double pixels_of(const StepReport& step, const RunReport& report) {
  const Plan& plan = report.plan;
  const bool of_result = is_of_result(step);
  const bool moves_streams = of_result ? plan.encodes_on_devices : plan.decodes_on_devices;
  if (!step.name.starts_with("compute") && !moves_streams)
    return ratio(static_cast<double>(step.bytes),
                 static_cast<double>((of_result ? plan.result() : plan.source()).pixel_bytes()));
  const bool of_all = step.name == "read" || step.name == "write" || plan.devices.empty();
  return static_cast<double>(report.pixels) / (of_all ? 1.0 : static_cast<double>(plan.devices.size()));
}

std::string table_row(const StepReport& step, const RunReport& report, const RunLimits& limits) {
  const Plan& plan = report.plan;
  const double rate = ratio(static_cast<double>(step.bytes), step.busy_seconds);
  const double pixels = pixels_of(step, report);
  return fmt::format("  {:<15} {:>8.2f} s {:>8.0f} {:>9.1f} {:>9.0f} % {:>7.0f} %\n", step.name,
                     step.busy_seconds, rate / 1e6, ratio(pixels, step.busy_seconds) / 1e6,
                     100 * ratio(least_seconds(step, plan, limits), step.busy_seconds),
                     100 * ratio(step.hidden_seconds, step.busy_seconds));
}

std::string limits_line(const Plan& plan, const RunLimits& limits) {
  std::string text = fmt::format("  limits: host copy {:.1f} GB/s", limits.host.copy_bytes_per_second / 1e9);
  if (plan.devices.empty()) {
    return text + fmt::format(", {:.0f} G fused multiply-adds/s\n", limits.host.fma_per_second / 1e9);
  }
  const DeviceLimits& device = limits.device;
  const bool wide = plan.arithmetic == Arithmetic::f64;
  return text +
         fmt::format("; bus {:.1f} GB/s each way; device copy {:.0f} GB/s, {:.1f} T fused multiply-adds/s\n",
                     device.duplex_bytes_per_second / 1e9, device.copy_bytes_per_second / 1e9,
                     (wide ? device.fma_f64_per_second : device.fma_f32_per_second) / 1e12);
}

json limits_json(const Plan& plan, const RunLimits& limits) {
  json all = {{"copy_bytes_per_second", limits.host.copy_bytes_per_second},
              {"fma_per_second", limits.host.fma_per_second}};
  if (plan.devices.empty()) return all;
  const DeviceLimits& device = limits.device;
  all["device"] = {{"upload_bytes_per_second", device.upload_bytes_per_second},
                   {"download_bytes_per_second", device.download_bytes_per_second},
                   {"duplex_bytes_per_second", device.duplex_bytes_per_second},
                   {"copy_bytes_per_second", device.copy_bytes_per_second},
                   {"fma_f32_per_second", device.fma_f32_per_second},
                   {"fma_f64_per_second", device.fma_f64_per_second}};
  return all;
}

/// "12 images (c 3, z 4) of "; nothing for one.
std::string rasters_text(const RunReport& report) {
  if (report.rasters == 1) return "";
  return fmt::format("{} images ({}) of ", report.rasters, to_string(report.plan.axes));
}

std::string dumped(const json& value) {
  return value.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace

RunLimits measure_limits(const Plan& plan) {
  RunLimits limits{.host = measure_host_limits(plan.threads, plan.arithmetic)};
  if (plan.devices.empty()) return limits;
  // What measure_device_limits() holds stays below the run's ceilings.
  const std::int64_t bytes =
      std::min({kMostLimitBytes, plan.max_memory_bytes / 2, plan.max_device_memory_bytes / 16});
  try {
    limits.device = measure_device_limits(plan.devices.front(), bytes);
  } catch (
      const Error&) {  // the run is done, and its result good: somebody else has taken the memory meanwhile
  }
  return limits;
}

std::string summary(const RunReport& report, const RunLimits& limits) {
  const Plan& plan = report.plan;
  const auto pixels = static_cast<double>(report.pixels);
  std::string text =
      fmt::format("{:.2f} s, {:.1f} Mpix/s; {}{} band{} of {} x {} pixels, {} slot{}; {}\n",
                  report.wall_seconds, ratio(pixels, report.wall_seconds) / 1e6, rasters_text(report),
                  report.bands.count(), report.bands.count() == 1 ? "" : "s", plan.band.cols, plan.band.rows,
                  plan.slots, plan.slots == 1 ? "" : "s", report.device);
  text += fmt::format("  {:<15} {:>10} {:>8} {:>9} {:>11} {:>9}\n", "step", "busy", "MB/s", "Mpix/s",
                      "of limit", "hidden");
  for (const StepReport& step : report.steps) text += table_row(step, report, limits);
  text +=
      fmt::format("  predicted{}: {}\n", report.rasters == 1 ? "" : " of each", to_string(plan.predicted));
  text += limits_line(plan, limits);
  const Overlap overlap = overlap_of(report);
  text +=
      fmt::format("  overlap: {:.0f} % of the copying hidden, {:.2f} x one step at a time; bottleneck: {}\n",
                  100 * overlap.copy_hidden, overlap.speed_up, report.bottleneck);
  if (!plan.devices.empty())
    text +=
        fmt::format("  start: {:.2f} s before the first band (plan, memory, GPU)\n", report.startup_seconds);
  text += fmt::format("  memory: {} at the peak, {} planned, ceiling {}\n",
                      format_bytes(static_cast<double>(peak_rss_bytes())),
                      format_bytes(static_cast<double>(plan.memory.total())),
                      format_bytes(static_cast<double>(plan.max_memory_bytes)));
  if (!plan.devices.empty())
    text += fmt::format("  device memory: {} planned on each GPU, ceiling {}\n",
                        format_bytes(static_cast<double>(plan.device_memory.total())),
                        format_bytes(static_cast<double>(plan.max_device_memory_bytes)));
  for (const std::string& warning : plan.warnings) text += fmt::format("  warning: {}\n", printable(warning));
  return text;
}

std::string to_json(const RunReport& report, const RunLimits& limits) {
  json steps = json::array();
  for (const StepReport& step : report.steps) {
    steps.push_back({{"name", step.name},
                     {"busy_seconds", step.busy_seconds},
                     {"hidden_seconds", step.hidden_seconds},
                     {"bytes", step.bytes},
                     {"operations", step.operations},
                     {"bytes_per_second", ratio(static_cast<double>(step.bytes), step.busy_seconds)},
                     {"share_of_limit", ratio(least_seconds(step, report.plan, limits), step.busy_seconds)}});
  }
  const Overlap overlap = overlap_of(report);
  return dumped({{"wall_seconds", report.wall_seconds},
                 {"startup_seconds", report.startup_seconds},
                 {"device", report.device},
                 {"bottleneck", report.bottleneck},
                 {"bands", {{"first", report.bands.first}, {"end", report.bands.end}}},
                 {"rasters", report.rasters},
                 {"pixels", report.pixels},
                 {"overlap", {{"copy_hidden", overlap.copy_hidden}, {"speed_up", overlap.speed_up}}},
                 {"bytes_stored", report.bytes_stored},
                 {"peak_rss_bytes", peak_rss_bytes()},
                 {"limits", limits_json(report.plan, limits)},
                 {"steps", std::move(steps)},
                 {"plan", json::parse(to_json(report.plan))}});
}

}  // namespace sepconv
