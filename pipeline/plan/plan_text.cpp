// The plan as text for users.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/printable.hpp"
#include "pipeline/machine/host_rates.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {
namespace {

std::string bytes(std::int64_t count) { return format_bytes(static_cast<double>(count)); }

std::string spec_text(const ImageSpec& spec, const std::optional<Extent>& plane,
                      const std::optional<SampleType>& stored) {
  const SampleType type = stored.value_or(SampleType(spec.type));
  const std::int64_t channels = spec.channels / type.parts();
  return fmt::format("{}, {} of {}, {}", pixels_text(spec.extent, plane), count_text(channels, "channel"),
                     describe(type), bytes(spec.bytes()));
}

std::optional<Extent> source_plane(const Plan& plan) {
  return plan.planes ? std::optional(plan.planes->source) : std::nullopt;
}
std::optional<Extent> result_plane(const Plan& plan) {
  return plan.planes ? std::optional(plan.planes->result) : std::nullopt;
}

/// Seconds of copying and of arithmetic at this machine's current rates; the larger is the limit.
std::string limit_text(const Plan& plan) {
  const HostRates limits = measure_host_limits(plan.threads, plan.arithmetic);
  // A source byte is copied into a slot and read from it; a result byte is written to a slot and copied out.
  const std::int64_t moved = plan.bytes_read + plan.secondary_bytes_read() + plan.bytes_written;
  const double copying = 2.0 * static_cast<double>(moved) / limits.copy_bytes_per_second;
  const double arithmetic = plan.operations / limits.fma_per_second;
  return fmt::format(
      "{}: at this machine's rates copying takes {:.2f} s and arithmetic {:.2f} s, storage and codecs "
      "aside{}",
      copying > arithmetic ? "memory bandwidth" : "arithmetic", copying, arithmetic,
      was_busy(limits.processor_share) ? "; rough, since the machine is busy" : "");
}

}  // namespace

std::vector<std::optional<int>> Plan::lanes() const {
  std::vector<std::optional<int>> all(devices.begin(), devices.end());
  if (uses_cpu()) all.insert(all.begin(), std::nullopt);
  return all;
}

std::string device_name(std::optional<int> device) {
  return device ? fmt::format("cuda:{}", *device) : "cpu";
}

std::string devices_text(const std::vector<int>& devices, bool with_cpu) {
  if (devices.empty()) return "cpu";
  return fmt::format("{}cuda:{}", with_cpu ? "cpu+" : "", fmt::join(devices, ","));
}

std::string to_string(const Prediction& prediction) {
  std::vector<std::string> steps;
  for (const auto& [name, seconds] : prediction.named()) {
    if (seconds > 0 && name != std::string_view("total"))
      steps.push_back(fmt::format("{} {:.2f} s", name, seconds));
  }
  return fmt::format("{:.2f} s: {}", prediction.total, fmt::join(steps, ", "));
}

std::string pixels_text(Extent extent, const std::optional<Extent>& plane) {
  if (!plane) return fmt::format("{} x {} pixels", extent.cols, extent.rows);
  const std::int64_t volumes = extent.cols / plane->area();
  return fmt::format("{} along z of {}{} x {} pixels", count_text(extent.rows, "plane"),
                     volumes == 1 ? "" : fmt::format("{} times ", volumes), plane->cols, plane->rows);
}

std::string source_text(const Plan& plan) { return pixels_text(plan.source().extent, source_plane(plan)); }
std::string sink_text(const Plan& plan) { return pixels_text(plan.sink().extent, result_plane(plan)); }
std::string band_text(const Plan& plan) { return pixels_text(plan.band, result_plane(plan)); }

std::vector<std::pair<std::string, std::string>> plan_facts(const Plan& plan, const Reader& source,
                                                            const Writer& sink) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto line = [&facts](std::string_view name, const std::string& value) {
    facts.emplace_back(name, value);
  };
  line("source", spec_text(plan.source(), source_plane(plan), source.layout().stored));
  line("", source.layout().description);
  if (const std::int64_t rasters = raster_count(plan.axes); rasters > 1)
    line("images", fmt::format("{} ({}), one at a time; the figures below are per image", rasters,
                               to_string(plan.axes)));
  line("chain",
       plan.given.text() + (plan.chain.computes() ? fmt::format(", computed in {}", name_of(plan.arithmetic))
                                                  : ", moves pixels and computes nothing"));
  if (const std::string as_run = plan.chain.text(); as_run != plan.given.text()) line("lowered to", as_run);
  line("result", spec_text(plan.result(), result_plane(plan), sink.layout().stored));
  if (plan.sink() != plan.result()) line("region", to_string(plan.region) + " of the result");
  line("", sink.layout().description);
  line("streams", plan.streams ? "yes" : "no");
  if (plan.planes) line("rows", "a row of a band or tile below is a whole plane of the volume");
  line("bands", fmt::format("{} of {} rows x {} columns", plan.band_count(), plan.band.rows, plan.band.cols));
  if (plan.uses_cpu())
    line("tiles", fmt::format("{} rows x {} columns, {}", plan.tile.rows, plan.tile.cols,
                              count_text(plan.threads, "thread")));
  const std::string secondary =
      plan.seconds.empty() ? "" : fmt::format(", {} secondary", bytes(plan.slot_secondary_bytes()));
  line("slots", fmt::format("{} of {} input{} and {} output", plan.slots, bytes(plan.slot_input_bytes),
                            secondary, bytes(plan.slot_output_bytes)));
  line("read", bytes(plan.bytes_read));
  for (const SecondaryRead& second : plan.seconds)
    line("secondary",
         fmt::format("{} read for {}, {}", bytes(second.bytes_read), second.stage, second.layout));
  line("written", bytes(plan.bytes_written));
  if (plan.chain.computes())
    line("work",
         fmt::format("{:.3g} multiply-adds, {:.1f} % of them done again where bands and tiles overlap",
                     plan.operations, 100 * plan.recomputed / std::max(1.0, plan.operations)));
  const auto resident = [](std::int64_t matrix_bytes) {
    return matrix_bytes > 0 ? fmt::format(", matrices {}", bytes(matrix_bytes)) : "";
  };
  line("memory",
       fmt::format("{} of {}: slots {}, scratch {}, source {}, sink {}{}", bytes(plan.memory.total()),
                   bytes(plan.max_memory_bytes), bytes(plan.memory.slots), bytes(plan.memory.scratch),
                   bytes(plan.memory.source), bytes(plan.memory.sink), resident(plan.memory.resident)));
  if (!plan.devices.empty()) {
    line("devices", devices_text(plan.devices, plan.with_cpu));
    const DeviceMemoryUse& device = plan.device_memory;
    const std::string codecs = device.codecs > 0 ? fmt::format(", codecs {}", bytes(device.codecs)) : "";
    line("", fmt::format("{} of {} on each: slots {}, scratch {}{}{}", bytes(device.total()),
                         bytes(plan.max_device_memory_bytes), bytes(device.slots), bytes(device.scratch),
                         codecs, resident(device.resident)));
  }
  line("predicted", to_string(plan.predicted));
  for (const std::string& warning : plan.warnings) line("warning", warning);
  for (const std::string& note : plan.notes) line("note", note);
  return facts;
}

std::string describe(const Plan& plan, const Reader& source, const Writer& sink) {
  std::string text;
  for (const auto& [name, value] : plan_facts(plan, source, sink)) {
    text += fmt::format("{:<10} {}\n", name, printable(value));
    if (name == "predicted" && plan.devices.empty())
      text += fmt::format("{:<10} {}\n", "limit", limit_text(plan));
  }
  return text;
}

}  // namespace sepconv
