#include "pipeline/run/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/simd/targets.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/run/nan_detector.hpp"
#include "pipeline/run/run_raster.hpp"
#include "pipeline/run/streaming_run.hpp"

namespace sepconv {
namespace {

template <class... Values>
void log_info(const ExecutionOptions& options, fmt::format_string<Values...> format, Values&&... values) {
  if (options.logger) options.logger->info(fmt::format(format, std::forward<Values>(values)...));
}

/// Allocates the memory of a run on the devices of the plan. If this throws OutOfMemory, nothing has been read
/// or written.
std::unique_ptr<Runner> prepare(Reader& source, Writer& sink, const Plan& plan, NanDetector& nan_detector,
                                ClippingSamples& clipping, const ExecutionOptions& options) {
  log_info(options, "plan: bands of {} x {}, {}, {}, tiles of {} x {}, {} of {}", plan.band.rows,
           plan.band.cols, count_text(plan.slots, "slot"), count_text(plan.threads, "thread"), plan.tile.rows,
           plan.tile.cols, format_bytes(static_cast<double>(plan.memory.total())),
           format_bytes(static_cast<double>(plan.max_memory_bytes)));
  if (!plan.devices.empty()) {
    log_info(options, "plan: {}, {} of {} on each", count_text(std::ssize(plan.devices), "GPU"),
             format_bytes(static_cast<double>(plan.device_memory.total())),
             format_bytes(static_cast<double>(plan.max_device_memory_bytes)));
  }
  source.set_cache_budget(std::max<std::int64_t>(0, plan.max_memory_bytes - plan.memory.total()) +
                          plan.buffered_bytes);
  std::unique_ptr<Runner> runner =
      std::make_unique<StreamingRun>(source, sink, plan, nan_detector, clipping, options);
  if (options.started) options.started(plan);
  return runner;
}

/// The options for a plan of half the memory, both on the host and on the devices, because OutOfMemory does not
/// tell which was short.
PlanOptions options_for_half_the_memory(const Plan& plan) {
  PlanOptions options = plan.asked;
  // The stages' resident data does not depend on the plan.
  const MemoryUse& memory = plan.memory;
  options.max_memory_bytes = memory.resident + (memory.total() - memory.resident) / 2;
  if (!plan.devices.empty()) {
    const DeviceMemoryUse& device = plan.device_memory;
    const std::int64_t buffers = memory.slots + (plan.with_cpu ? memory.scratch : 0);
    options.max_memory_bytes =
        std::max(buffers / 2 + memory.source + memory.sink + memory.resident, std::int64_t{1});
    options.max_device_memory_bytes = device.resident + (device.total() - device.resident) / 2;
  }
  return options;
}

/// The tracks that a run of this plan records, in the order in which a band passes them.
std::vector<std::string> tracks_of(const Plan& plan) {
  using namespace std::string_view_literals;
  std::vector<std::string> tracks{"read"};
  for (const char* name : {"upload", "decode", "compute", "encode", "download"}) {
    if ((name == "decode"sv && !plan.decodes_on_devices()) ||
        (name == "encode"sv && !plan.encodes_on_devices()))
      continue;
    for (const std::optional<int> device : plan.lanes())
      if (device || name == "compute"sv) tracks.push_back(name + track_suffix(plan, device));
  }
  tracks.emplace_back("write");
  return tracks;
}

void check_fits(const Reader& source, const Writer& sink, const Plan& plan,
                const std::optional<BandRange>& bands) {
  if (source.spec() != plan.source() || sink.spec() != plan.sink())
    throw InvalidArgument("the plan is for a source and a sink of other shapes or types; make one for these");
  if (!plan.matches_layouts(source.layout(), sink.layout()))
    throw InvalidArgument(
        "the plan is for blocks that a GPU codes, and those of this source or sink are others; make one for "
        "these");
  if (bands && (bands->first < 0 || bands->first >= bands->end || bands->end > plan.band_count()))
    throw InvalidArgument(fmt::format("bands {} to {} are out of range: the plan has 0 to {}", bands->first,
                                      bands->end - 1, plan.band_count() - 1));
}

RunReport run_timed(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options,
                    Timeline timeline) {
  const auto [executed, startup_seconds, lanes] = run_raster(source, sink, plan, options, timeline);
  const BandRange bands = options.bands.value_or(executed.all_bands());
  RunReport report = make_report(executed, source, sink, bands, timeline, startup_seconds,
                                 source.stored_bytes(), 1, executed.pixels_of(bands));
  report.lanes = lanes;
  return report;
}

}  // namespace

ExecutedPlan<Plan> run_raster(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options,
                              Timeline& timeline) try {
  check_fits(source, sink, plan, options.bands);
  for (const std::string& note : plan.notes) log_info(options, "plan: {}", note);
  NanDetector nan_detector(source, plan.chain);
  ClippingSamples clipping(source, sink, plan);
  auto executed = run_planned(
      plan, sink, options, timeline,
      [&](const Plan& current_plan) {
        return prepare(source, sink, current_plan, nan_detector, clipping, options);
      },
      [&](const Plan& too_large) {
        return plan_again(too_large, source, sink, options_for_half_the_memory(too_large));
      });
  std::vector<std::string> warnings = source.warnings_after_reading();
  std::ranges::move(nan_detector.warnings(), std::back_inserter(warnings));
  std::ranges::move(clipping.warnings(), std::back_inserter(warnings));
  for (const std::string& warning : warnings) {
    log_info(options, "{}", warning);
    executed.plan.warnings.push_back(warning);
  }
  return executed;
} catch (const std::bad_alloc&) {
  throw OutOfMemory(
      "memory ran out during the run; give a smaller PlanOptions::max_memory_bytes so that smaller bands are "
      "planned");
}

Plan plan_again(const Plan& plan, const Reader& source, const Writer& sink, PlanOptions options) {
  options.choose_device = false;
  options.devices = plan.devices;
  options.with_cpu = plan.with_cpu;
  Plan again = sepconv::plan(source, sink, plan.given, plan.missing, options);
  again.asked = plan.asked;
  again.axes = plan.axes;
  again.planes = plan.planes;
  return again;
}

RunReport make_report(const Plan& plan, const Reader& source, const Writer& sink, BandRange bands,
                      const Timeline& timeline, double startup_seconds, std::int64_t bytes_stored,
                      std::int64_t rasters, std::int64_t pixels) {
  RunReport report;
  report.plan = plan;
  report.bands = bands;
  report.rasters = rasters;
  report.pixels = pixels;
  report.wall_seconds = timeline.now();
  report.startup_seconds = startup_seconds;
  report.peak_rss_bytes = peak_rss_bytes();
  for (const std::string& track : tracks_of(plan)) report.steps.push_back(step_report(timeline, track));
  double computed_bytes = 0;
  for (const StepReport& step : report.steps) {
    if (step.name.starts_with("compute")) computed_bytes += static_cast<double>(step.bytes);
  }
  const double fraction = static_cast<double>(report.pixels) / static_cast<double>(plan.region.area());
  for (StepReport& step : report.steps) {
    if (step.name.starts_with("compute") && computed_bytes > 0)
      step.operations = plan.operations * fraction * static_cast<double>(step.bytes) / computed_bytes;
  }
  report.bottleneck = std::ranges::max_element(report.steps, {}, &StepReport::busy_seconds)->name;
  report.device = device_text(plan.devices, plan.threads, plan.devices.empty() ? simd_target() : "");
  if (plan.with_cpu) report.device = device_text({}, plan.threads, simd_target()) + " and " + report.device;
  report.bytes_stored = bytes_stored;
  report.source_codec = source.layout().codec;
  report.sink_codec = sink.layout().codec;
  report.has_many_writers =
      sink.layout().file_per_block || write_threads(sink.layout(), sink.spec(), plan.band, plan.threads) > 1;
  report.timeline = timeline;
  return report;
}

RunReport run(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options) {
  return run_timed(source, sink, plan, options, Timeline());
}

RunReport run(Reader& source, Writer& sink, const Chain& chain, const RunOptions& options) {
  check_no_bands(options);
  Timeline timeline;  // startup time includes planning
  ExecutionOptions execution = options;
  execution.retry_smaller_plans = true;
  return run_timed(source, sink, plan(source, sink, chain, options), execution, std::move(timeline));
}

}  // namespace sepconv
