#include "pipeline/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/printable.hpp"
#include "io/json_text.hpp"
#include "pipeline/job/plan_json.hpp"
#include "pipeline/report/frequency_response.hpp"
#include "pipeline/report/scaled_chain.hpp"
#include "pipeline/report/step_facts.hpp"

namespace sepconv {

namespace {

using nlohmann::json;

constexpr std::int64_t kMaxLimitBytes = std::int64_t{64} << 20;
/// Bytes of the host's copy measurement: larger than the caches if the memory ceiling allows.
constexpr std::int64_t kMinCopied = std::int64_t{1} << 20, kMaxCopied = std::int64_t{256} << 20;

std::string table_row(const StepFacts& step) {
  return fmt::format("  {:<15} {:>8.2f} s {:>8.0f} {:>9.1f} {:>11} {:>7.0f} %\n", step.name,
                     step.busy_seconds, step.bytes_per_second / 1e6, step.pixels_per_second / 1e6,
                     limit_percent_text(step), 100 * step.hidden_fraction);
}

json limits_json(const Plan& plan, const RunLimits& limits) {
  json document = {{"copy_bytes_per_second", limits.host.copy_bytes_per_second},
                   {"fma_per_second", limits.host.fma_per_second},
                   {"file_read_bytes_per_second", limits.file.read_bytes_per_second},
                   {"file_write_bytes_per_second", limits.file.write_bytes_per_second},
                   {"processor_share", limits.processor_share()},
                   {"busy", was_busy(limits.processor_share())}};
  if (plan.devices.empty()) return document;
  const DeviceRates& device = limits.device;
  document["device"] = {{"upload_bytes_per_second", device.upload_bytes_per_second},
                        {"download_bytes_per_second", device.download_bytes_per_second},
                        {"duplex_bytes_per_second", device.duplex_bytes_per_second},
                        {"copy_bytes_per_second", device.copy_bytes_per_second},
                        {"fma_f32_per_second", device.fma_f32_per_second},
                        {"fma_f64_per_second", device.fma_f64_per_second}};
  return document;
}

/// "12 images (c 3, z 4) of "; empty for one image.
std::string rasters_text(const RunReport& report) {
  if (report.rasters == 1) return "";
  return fmt::format("{} images ({}) of ", report.rasters, to_string(report.plan.axes));
}

std::string headline(const RunReport& report) {
  return fmt::format("{:.2f} s, {:.1f} Mpix/s; {}{} of {}, {}; {}", report.wall_seconds,
                     safe_ratio(static_cast<double>(report.pixels), report.wall_seconds) / 1e6,
                     rasters_text(report), count_text(report.bands.count(), "band"), band_text(report.plan),
                     count_text(report.plan.slots, "slot"), report.device);
}

/// What each of several devices did.
std::string lane_lines(const RunReport& report) {
  if (report.lanes.size() < 2) return "";
  std::string text;
  for (const LaneReport& lane : report.lanes)
    text +=
        fmt::format("  {}: {}, {:.1f} % of the pixels\n", lane.device, count_text(lane.bands, "band"),
                    100 * safe_ratio(static_cast<double>(lane.pixels), static_cast<double>(report.pixels)));
  return text;
}

json lanes_json(const RunReport& report) {
  json all = json::array();
  for (const LaneReport& lane : report.lanes)
    all.push_back({{"device", lane.device},
                   {"bands", lane.bands},
                   {"pixels", lane.pixels},
                   {"failure", lane.failure.empty() ? json() : json(lane.failure)}});
  return all;
}

std::string warning_lines(const Plan& plan) {
  std::string text;
  for (const std::string& warning : plan.warnings) text += fmt::format("  warning: {}\n", printable(warning));
  return text;
}

/// The blocks of a track in order of time: [begin, end, first band, bands]; the band is null for the closing
/// of the file. Among more than 1000, adjacent ones that a drawing could not separate are merged.
json spans_json(const RunReport& report, const std::string& track) {
  constexpr std::size_t kMaxSeparate = 1000;
  std::vector<Span> spans = report.timeline.spans(), merged;
  std::erase_if(spans, [&track](const Span& span) { return span.track != track; });
  std::ranges::sort(spans, {}, &Span::begin);
  const double max_gap = report.wall_seconds / static_cast<double>(2 * kMaxSeparate);
  for (const Span& span : spans) {
    if (spans.size() <= kMaxSeparate || merged.empty() || span.band == Span::kClosing ||
        merged.back().band == Span::kClosing || span.begin - merged.back().end >= max_gap ||
        span.end - merged.back().begin >= 4 * max_gap) {
      merged.push_back(span);
    } else {
      merged.back().end = std::max(merged.back().end, span.end);
      merged.back().bands += span.bands;
    }
  }
  json blocks = json::array();
  for (const Span& span : merged)
    blocks.push_back(
        {span.begin, span.end, span.band == Span::kClosing ? json() : json(span.band), span.bands});
  return blocks;
}

json named_json(const RunFacts::Named& facts) {
  json list = json::array();
  for (const auto& [name, value] : facts) list.push_back({printable_lines(name), printable_lines(value)});
  return list;
}

/// The taps along x, and those along y unless they are the same.
json response_json(const Chain& chain) {
  const ScaledChain in_plane = scaled_chain(chain, 1);
  const ChainResponse response = response_of(in_plane.chain);
  json document = {{"chain", printable_lines(chain.text())}, {"notes", in_plane.notes}};
  if (!response.unavailable_reason.empty()) {
    document["reason"] = printable_lines(response.unavailable_reason);
  } else {
    document["x"] = response.along_x;
    if (!response.is_isotropic()) document["y"] = response.along_y;
  }
  return document;
}

json facts_json(const Plan& plan, const RunFacts& facts) {
  const auto file = [](const std::string& name, const RunFacts::Named& properties) {
    return json{{"name", printable_lines(name)}, {"facts", named_json(properties)}};
  };
  return {
      {"files",
       {{"source", file(facts.source, facts.of_source)}, {"result", file(facts.result, facts.of_result)}}},
      {"plan_facts", named_json(facts.plan)},
      {"response", response_json(plan.planes ? plan.planes->given : plan.given)},
      {"command", printable_lines(facts.command)}};
}

}  // namespace

RunLimits measure_limits(const RunReport& report) {
  if (report.wall_seconds < kShortRunSeconds) return {};
  const Plan& plan = report.plan;
  const std::int64_t copy_bytes = std::clamp(plan.max_memory_bytes / 4, kMinCopied, kMaxCopied);
  RunLimits limits;
  // If another process has allocated the memory meanwhile, nothing is measured; the run itself has succeeded.
  try {
    limits.host = measure_host_limits(plan.threads, plan.arithmetic, copy_bytes);
    limits.file = measure_file_limits(plan.threads, 2 * copy_bytes);
  } catch (const Error&) {
    return {};
  }
  if (plan.devices.empty()) return limits;
  // Keeps the memory of measure_device_limits() below the run's ceilings.
  const std::int64_t bytes =
      std::min({kMaxLimitBytes, plan.max_memory_bytes / 2, plan.max_device_memory_bytes / 16});
  try {
    limits.device = measure_device_limits(plan.devices.front(), bytes);
  } catch (const Error&) {
  }
  return limits;
}

std::string brief_summary(const RunReport& report) {
  return fmt::format("{}; {} at the peak\n{}", headline(report),
                     format_bytes(static_cast<double>(report.peak_rss_bytes)), warning_lines(report.plan));
}

std::string summary(const RunReport& report, const RunLimits& limits) {
  const Plan& plan = report.plan;
  std::string text = headline(report) + "\n";
  text += fmt::format("  {:<15} {:>10} {:>8} {:>9} {:>11} {:>9}\n", "step", "busy", "MB/s", "Mpix/s",
                      "of limit", "hidden");
  for (const StepFacts& step : step_facts(report, limits)) text += table_row(step);
  text += lane_lines(report);
  text +=
      fmt::format("  predicted{}: {}\n", report.rasters == 1 ? "" : " of each", to_string(plan.predicted));
  text += fmt::format("  limits: {}\n", limits_text(plan, limits));
  const Overlap overlap = overlap_of(report);
  text +=
      fmt::format("  overlap: {:.0f} % of the copying hidden, {:.2f} x one step at a time; bottleneck: {}\n",
                  100 * overlap.copy_hidden, overlap.speed_up, report.bottleneck);
  if (!plan.devices.empty())
    text +=
        fmt::format("  start: {:.2f} s before the first band (plan, memory, GPU)\n", report.startup_seconds);
  text += fmt::format("  memory: {} at the peak, {} planned, ceiling {}\n",
                      format_bytes(static_cast<double>(report.peak_rss_bytes)),
                      format_bytes(static_cast<double>(plan.memory.total())),
                      format_bytes(static_cast<double>(plan.max_memory_bytes)));
  if (!plan.devices.empty())
    text += fmt::format("  device memory: {} planned on each GPU, ceiling {}\n",
                        format_bytes(static_cast<double>(plan.device_memory.total())),
                        format_bytes(static_cast<double>(plan.max_device_memory_bytes)));
  return text + warning_lines(plan);
}

std::string to_json(const RunReport& report, const RunLimits& limits, const RunFacts* facts) {
  json steps = json::array();
  for (const StepFacts& step : step_facts(report, limits)) {
    steps.push_back({{"name", step.name},
                     {"busy_seconds", step.busy_seconds},
                     {"hidden_seconds", step.hidden_fraction * step.busy_seconds},
                     {"bytes", step.bytes},
                     {"operations", step.operations},
                     {"bytes_per_second", step.bytes_per_second},
                     {"pixels_per_second", step.pixels_per_second},
                     {"spans", spans_json(report, step.name)},
                     {"share_of_limit", step.share_of_limit ? json(*step.share_of_limit) : json()}});
  }
  json memory = json::array();
  for (const MemorySample& sample : report.timeline.memory())
    memory.push_back({sample.seconds, sample.bytes});
  const Overlap overlap = overlap_of(report);
  json document = {{"wall_seconds", report.wall_seconds},
                   {"startup_seconds", report.startup_seconds},
                   {"device", report.device},
                   {"bottleneck", report.bottleneck},
                   {"advice", advice(report, limits)},
                   {"bands", {{"first", report.bands.first}, {"end", report.bands.end}}},
                   {"lanes", lanes_json(report)},
                   {"rasters", report.rasters},
                   {"pixels", report.pixels},
                   {"overlap", {{"copy_hidden", overlap.copy_hidden}, {"speed_up", overlap.speed_up}}},
                   {"bytes_stored", report.bytes_stored},
                   {"peak_rss_bytes", report.peak_rss_bytes},
                   {"memory", std::move(memory)},
                   {"limits", limits_json(report.plan, limits)},
                   {"steps", std::move(steps)},
                   {"texts",
                    {{"source", source_text(report.plan)},
                     {"result", sink_text(report.plan)},
                     {"limits", limits_text(report.plan, limits)},
                     {"predicted", to_string(report.plan.predicted)}}},
                   {"plan", json::parse(to_json(report.plan))}};
  if (facts != nullptr) document.update(facts_json(report.plan, *facts));
  return json_lines(document);
}

}  // namespace sepconv
