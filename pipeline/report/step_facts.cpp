#include "pipeline/report/step_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/count_text.hpp"

namespace sepconv {
namespace {

/// Whether GPUs do the step, if there are any.
bool is_on_device(std::string_view step, const Plan& plan) {
  return !plan.devices.empty() && step != "compute cpu";
}

/// Whether the step encodes or decodes; no limit is known for that.
bool is_codec_step(std::string_view step, const RunReport& report) {
  if (step.starts_with("decode") || step.starts_with("encode")) return true;
  const auto is_coded = [](const std::string& codec) { return codec != kUncompressed && codec != kInMemory; };
  if (step == "read") return !report.plan.decodes_on_devices() && is_coded(report.source_codec);
  return step == "write" && !report.plan.encodes_on_devices() && is_coded(report.sink_codec);
}

/// The limit of reading or writing a file, in bytes per second: empty if pixels are in memory, 0 if unknown.
/// It is unknown for several files or threads, which are faster than one.
std::optional<double> file_rate(std::string_view step, const RunReport& report, const PageCacheRate& limits) {
  if (step == "read" && report.source_codec != kInMemory) return limits.read_bytes_per_second;
  if (step == "write" && report.sink_codec != kInMemory)
    return report.has_many_writers ? 0 : limits.write_bytes_per_second;
  return std::nullopt;
}

/// Seconds that a step would take at the machine's copy and arithmetic limits, which overlap. Empty if a
/// limit is unknown.
std::optional<double> min_seconds(const StepReport& step, const RunReport& report, const RunLimits& limits) {
  if (is_codec_step(step.name, report)) return std::nullopt;
  if (const auto rate = file_rate(step.name, report, limits.file)) {
    if (*rate <= 0) return std::nullopt;
    return static_cast<double>(step.bytes) / *rate;
  }
  const Plan& plan = report.plan;
  const bool on_device = is_on_device(step.name, plan);
  const bool computes = step.name.starts_with("compute");
  const bool crosses_bus =
      on_device && (step.name.starts_with("upload") || step.name.starts_with("download"));
  const DeviceRates& device = limits.device;
  double copy_rate = limits.host.copy_bytes_per_second, fma_rate = limits.host.fma_per_second;
  if (crosses_bus) {
    copy_rate = device.duplex_bytes_per_second;  // a run uses both directions simultaneously
  } else if (on_device && computes) {
    copy_rate = device.copy_bytes_per_second;
    fma_rate = plan.arithmetic == Arithmetic::f64 ? device.fma_f64_per_second : device.fma_f32_per_second;
  }
  if (copy_rate <= 0) return std::nullopt;
  // Compute counts bytes read plus bytes written. Other steps count bytes moved, which are read and written
  // once each; the bus moves them once.
  const double bytes = static_cast<double>(step.bytes) * (computes || crosses_bus ? 1 : 2);
  return std::max(safe_ratio(bytes, copy_rate), safe_ratio(step.operations, fma_rate));
}

/// Whether the step moves result pixels, not source pixels.
bool is_of_result(const StepReport& step) {
  return step.name == "write" || step.name.starts_with("encode") || step.name.starts_with("download");
}

/// Pixels that a step processed. Compute moves source and result, and other steps may move encoded streams or
/// second images; for these the result's pixels are counted, without source halos.
double pixels_of(const StepReport& step, const RunReport& report) {
  const Plan& plan = report.plan;
  const bool moves_result = is_of_result(step);
  const bool bytes_are_not_pixels =
      moves_result ? plan.encodes_on_devices() : plan.decodes_on_devices() || !plan.seconds.empty();
  if (!step.name.starts_with("compute") && !bytes_are_not_pixels)
    return safe_ratio(static_cast<double>(step.bytes),
                      static_cast<double>((moves_result ? plan.result() : plan.source()).pixel_bytes()));
  for (const LaneReport& lane : report.lanes)
    if (step.name.ends_with(" " + lane.device)) return static_cast<double>(lane.pixels);
  return static_cast<double>(report.pixels);
}

const char* activity_text(std::string_view bottleneck) {
  if (bottleneck.starts_with("read")) return "Reading and decoding the source";
  if (bottleneck.starts_with("write")) return "Encoding and writing the result";
  if (bottleneck.starts_with("upload")) return "Copying to the GPU";
  if (bottleneck.starts_with("download")) return "Copying from the GPU";
  if (bottleneck.starts_with("decode")) return "Decoding on the GPU";
  if (bottleneck.starts_with("encode")) return "Encoding on the GPU";
  return "Computing the chain";
}

/// Seconds that closing the last image's file took, after its last band.
double closing_seconds(const RunReport& report) {
  double seconds = 0;
  for (const Span& span : report.timeline.spans()) {
    if (span.track == "write" && span.band == Span::kClosing && span.bands == 1)
      seconds = span.end - span.begin;
  }
  return seconds;
}

/// Advice on how to shorten this step.
std::string alternatives_for(const RunReport& report, const StepFacts& step) {
  const Plan& plan = report.plan;
  if (step.name == "read") {
    return is_codec_step(step.name, report)
               ? "More threads (PlanOptions::threads) decode faster, and a source that is not compressed, or "
                 "by zstd, is read faster."
               : "A faster disk, or a source in the page cache, is read faster.";
  }
  if (step.name == "write") {
    const double closing = closing_seconds(report);
    if (closing > 0.5 * step.busy_seconds)
      return fmt::format("A faster disk: {:.2f} s of it were spent closing the file.", closing);
    if (report.sink_codec == kPicture) return "A TIFF or Zarr result, whose blocks all threads encode.";
    return is_codec_step(step.name, report)
               ? "OutputOptions::compression none, zstd:fast or deflate:fast take less time to encode; "
                 "beyond that, more threads (PlanOptions::threads) or a faster disk."
               : "A faster disk, or a result of a smaller type.";
  }
  if (step.name.starts_with("upload") || step.name.starts_with("download"))
    return "The bus is the limit: a chain of several stages in one run crosses it once, and small pixels "
           "cross it faster.";
  if (step.name.starts_with("decode") || step.name.starts_with("encode"))
    return "A codec that takes a GPU less time (zstd:fast, deflate:fast), smaller blocks, which it codes "
           "in parallel, or the CPU alone (PlanOptions::devices).";
  if (is_on_device(step.name, plan)) return "Shorter taps (truncate, a smaller radius) or a second GPU.";
  return fmt::format(
      "More threads (PlanOptions::threads, now {}), shorter taps (truncate, a smaller radius), or a GPU "
      "(PlanOptions::devices).",
      plan.threads);
}

/// The reason why steps wait for each other.
std::string waiting_text(const RunReport& report) {
  const int slots = report.plan.slots;
  const std::int64_t bands = report.bands.count();
  if (slots >= std::min<std::int64_t>(3, bands))
    return fmt::format(" But the steps wait for each other: {} to overlap.",
                       bands == 1 ? "one band has no other" : fmt::format("{} bands are few", bands));
  return fmt::format(" But steps wait for each other: with {} fewer bands than steps are in hand; {}.",
                     count_text(slots, "slot"),
                     report.plan.asked.slots > 0
                         ? "PlanOptions::slots sets that number"
                         : "more memory (PlanOptions::max_memory_bytes) gives a third");
}

std::string rates_text(const Plan& plan, const RunLimits& limits) {
  if (limits.host.copy_bytes_per_second <= 0) return "not measured: the run was too short for it";
  const PageCacheRate& file = limits.file;
  std::string text = fmt::format("host copy {:.1f} GB/s", limits.host.copy_bytes_per_second / 1e9);
  if (file.write_bytes_per_second > 0)
    text += fmt::format(", files in memory read at {:.1f} and one written at {:.1f} GB/s",
                        file.read_bytes_per_second / 1e9, file.write_bytes_per_second / 1e9);
  if (plan.devices.empty())
    return text + fmt::format(", {:.0f} G fused multiply-adds/s", limits.host.fma_per_second / 1e9);
  const DeviceRates& device = limits.device;
  if (device.copy_bytes_per_second <= 0) return text + "; the GPU's rates could not be measured";
  const bool is_f64 = plan.arithmetic == Arithmetic::f64;
  return text +
         fmt::format("; bus {:.1f} GB/s each way; device copy {:.0f} GB/s, {:.1f} T fused multiply-adds/s",
                     device.duplex_bytes_per_second / 1e9, device.copy_bytes_per_second / 1e9,
                     (is_f64 ? device.fma_f64_per_second : device.fma_f32_per_second) / 1e12);
}

}  // namespace

std::vector<StepFacts> step_facts(const RunReport& report, const RunLimits& limits) {
  std::vector<StepFacts> facts;
  for (const StepReport& step : report.steps) {
    const double busy = step.busy_seconds;
    facts.push_back({.name = step.name,
                     .busy_seconds = busy,
                     .hidden_fraction = safe_ratio(step.hidden_seconds, busy),
                     .bytes = step.bytes,
                     .operations = step.operations,
                     .bytes_per_second = safe_ratio(static_cast<double>(step.bytes), busy),
                     .pixels_per_second = safe_ratio(pixels_of(step, report), busy),
                     .share_of_limit = {}});
    if (const auto min_duration = min_seconds(step, report, limits))
      facts.back().share_of_limit = safe_ratio(*min_duration, busy);
  }
  return facts;
}

std::string limit_percent_text(const StepFacts& step) {
  return step.share_of_limit ? fmt::format("{:.0f} %", 100 * *step.share_of_limit) : "-";
}

std::string limits_text(const Plan& plan, const RunLimits& limits) {
  std::string text = rates_text(plan, limits);
  if (was_busy(limits.processor_share()))
    text += fmt::format(
        "; the machine was busy while they were measured (with a processor for {:.0f} % of that time): "
        "shares of limits are rough",
        100 * limits.processor_share());
  return text;
}

std::string advice(const RunReport& report, const RunLimits& limits) {
  const std::vector<StepFacts> steps = step_facts(report, limits);
  const auto step = std::ranges::find(steps, report.bottleneck, &StepFacts::name);
  if (step == steps.end()) return "";
  const double running = report.wall_seconds - report.startup_seconds;
  std::string text = fmt::format("{} is the bottleneck: busy for {:.2f} s of {:.2f} s.",
                                 activity_text(step->name), step->busy_seconds, report.wall_seconds);
  if (safe_ratio(step->busy_seconds, running) < 0.7) text += waiting_text(report);
  if (report.startup_seconds > 0.3 * report.wall_seconds)
    text += fmt::format(" {:.2f} s passed before the first band.", report.startup_seconds);
  return text + " What would help: " + alternatives_for(report, *step);
}

}  // namespace sepconv
