#include "sepconv/pipeline/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace sepconv {

namespace {

using nlohmann::json;

/// Seconds that a step would take at the machine's limits: copying, which reads and writes every byte, while
/// arithmetic goes on.
double least_seconds(const StepReport& step, const HostLimits& limits) {
  // The bytes of compute are those that it reads and those that it writes; the others' are moved from here to
  // there.
  const double touched = static_cast<double>(step.bytes) * (step.name == "compute" ? 1 : 2);
  const double copying = limits.copy_bytes_per_second > 0 ? touched / limits.copy_bytes_per_second : 0;
  const double computing = limits.fma_per_second > 0 ? step.operations / limits.fma_per_second : 0;
  return std::max(copying, computing);
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Bytes of a pixel as a step sees it: the writer moves results, the others source pixels.
std::int64_t pixel_bytes_of(const StepReport& step, const Plan& plan) {
  return (step.name == "write" ? plan.result() : plan.source()).pixel_bytes();
}

std::string table_row(const StepReport& step, const Plan& plan, const HostLimits& limits) {
  const double rate = ratio(static_cast<double>(step.bytes), step.busy_seconds);
  // Compute moves source and result; its pixels are those of the result, halos of the source aside.
  const double pixels = step.name == "compute" ? static_cast<double>(plan.result().extent.area())
                                               : ratio(static_cast<double>(step.bytes),
                                                       static_cast<double>(pixel_bytes_of(step, plan)));
  return fmt::format("  {:<8} {:>8.2f} s {:>8.0f} {:>9.1f} {:>9.0f} % {:>7.0f} %\n", step.name,
                     step.busy_seconds, rate / 1e6, ratio(pixels, step.busy_seconds) / 1e6,
                     100 * ratio(least_seconds(step, limits), step.busy_seconds),
                     100 * ratio(step.hidden_seconds, step.busy_seconds));
}

json spec_json(const ImageSpec& spec) {
  return {{"rows", spec.extent.rows},
          {"cols", spec.extent.cols},
          {"channels", spec.channels},
          {"type", name_of(spec.type)}};
}

json plan_json(const Plan& plan) {
  json specs = json::array();
  for (const ImageSpec& spec : plan.specs) specs.push_back(spec_json(spec));
  return {{"specs", std::move(specs)},
          {"arithmetic", name_of(plan.arithmetic)},
          {"threads", plan.threads},
          {"slots", plan.slots},
          {"bands", plan.band_count()},
          {"band", {{"rows", plan.band.rows}, {"cols", plan.band.cols}}},
          {"tile", {{"rows", plan.tile.rows}, {"cols", plan.tile.cols}}},
          {"memory_bytes",
           {{"slots", plan.memory.slots},
            {"scratch", plan.memory.scratch},
            {"source", plan.memory.source},
            {"sink", plan.memory.sink},
            {"total", plan.memory.total()},
            {"ceiling", plan.max_memory_bytes}}},
          {"bytes_read", plan.bytes_read},
          {"bytes_written", plan.bytes_written},
          {"operations", plan.operations},
          {"recomputed", plan.recomputed},
          {"streams", plan.streams},
          {"notes", plan.notes}};
}

std::string dumped(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string summary(const RunReport& report, const HostLimits& limits) {
  const Plan& plan = report.plan;
  const auto pixels = static_cast<double>(plan.result().extent.area());
  std::string text = fmt::format("{:.2f} s, {:.1f} Mpix/s; {} band{} of {} x {} pixels, {} slot{}; {}\n",
                                 report.wall_seconds, ratio(pixels, report.wall_seconds) / 1e6,
                                 plan.band_count(), plan.band_count() == 1 ? "" : "s", plan.band.cols,
                                 plan.band.rows, plan.slots, plan.slots == 1 ? "" : "s", report.device);
  text += fmt::format("  {:<8} {:>10} {:>8} {:>9} {:>11} {:>9}\n", "step", "busy", "MB/s", "Mpix/s",
                      "of limit", "hidden");
  for (const StepReport& step : report.steps) text += table_row(step, plan, limits);
  text += fmt::format("  limits: copy {:.1f} GB/s, {:.0f} G fused multiply-adds/s; bottleneck: {}\n",
                      limits.copy_bytes_per_second / 1e9, limits.fma_per_second / 1e9, report.bottleneck);
  text += fmt::format("  memory: {} at the peak, {} planned, ceiling {}\n",
                      format_bytes(static_cast<double>(peak_rss_bytes())),
                      format_bytes(static_cast<double>(plan.memory.total())),
                      format_bytes(static_cast<double>(plan.max_memory_bytes)));
  return text;
}

std::string to_json(const RunReport& report, const HostLimits& limits) {
  json steps = json::array();
  for (const StepReport& step : report.steps) {
    steps.push_back({{"name", step.name},
                     {"busy_seconds", step.busy_seconds},
                     {"hidden_seconds", step.hidden_seconds},
                     {"bytes", step.bytes},
                     {"operations", step.operations},
                     {"bytes_per_second", ratio(static_cast<double>(step.bytes), step.busy_seconds)},
                     {"share_of_limit", ratio(least_seconds(step, limits), step.busy_seconds)}});
  }
  return dumped(
      {{"wall_seconds", report.wall_seconds},
       {"device", report.device},
       {"bottleneck", report.bottleneck},
       {"bytes_stored", report.bytes_stored},
       {"peak_rss_bytes", peak_rss_bytes()},
       {"limits",
        {{"copy_bytes_per_second", limits.copy_bytes_per_second}, {"fma_per_second", limits.fma_per_second}}},
       {"steps", std::move(steps)},
       {"plan", plan_json(report.plan)}});
}

std::string to_json(const Plan& plan) { return dumped(plan_json(plan)); }

// VmHWM and not getrusage: ru_maxrss of a process starts with what its parent had before exec.
std::int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  // 999.5 would print as a fourth digit.
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const int digits = unit == 0 ? 0 : std::abs(bytes) >= 99.95 ? 0 : std::abs(bytes) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, digits, kUnits[unit]);
}

}  // namespace sepconv
