#include "pipeline/run/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "io/resumable.hpp"
#include "kernels/cuda/buffer_pool.hpp"
#include "pipeline/plan/parts.hpp"
#include "pipeline/run/checkpoint_writer.hpp"
#include "pipeline/run/raster_set_progress.hpp"
#include "pipeline/run/run_raster.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {
namespace {

/// Memory pools reused for all rasters, because allocation takes longer than filtering a small raster.
class SharedBuffers {
 public:
  explicit SharedBuffers(const ExecutionOptions& options)
      : host_(host_memory(options)), pinned_(pinned_memory(options)), device_(device_memory(options)) {}

  void use_for(ExecutionOptions& options) {
    options.memory = &host_;
    options.pinned_memory = &pinned_;
    options.device_memory = &device_;
  }

  /// Frees the pools, before and after a plan with other buffer sizes.
  void free_all() {
    for (BufferPool* const pool : {&host_, &pinned_, &device_}) pool->release();
  }

 private:
  BufferPool host_, pinned_, device_;
};

/// Whether the first raster's plan also applies to this raster, regarding blocks, nodata and memory.
bool is_applicable(const Plan& plan, const ImageJob& job) {
  const Reader& source = *job.source;
  const Writer& sink = *job.sink;
  const std::int64_t required = plan.memory.slots + plan.memory.scratch + plan.memory.resident +
                                source.buffer_bytes(plan.threads) + sink.buffer_bytes(plan.threads);
  const Chain chain = apply_nodata_policy(job.plan.missing, plan.given, source.spec(), plan.asked.arithmetic);
  if (chain.transposes_last().text() != plan.chain.text()) return false;
  return plan.matches_layouts(source.layout(), sink.layout()) &&
         source.layout().description == plan.source_layout && sink.layout().description == plan.sink_layout &&
         required <= std::max(plan.max_memory_bytes, plan.memory.total());
}

Plan plan_for_raster(const ImageJob& job, std::int64_t raster, const ExecutionOptions& options) {
  if (!options.retry_smaller_plans)
    throw InvalidArgument(fmt::format(
        "the plan is for images that are stored as the first is, and not for that at {}, which is {}; leave "
        "the plan out",
        position_text(job.plan.axes, raster), job.source->layout().description));
  PlanOptions requested = job.plan.asked;
  requested.choose_device = false;
  requested.devices = job.plan.devices;
  Plan raster_plan = plan(*job.source, *job.sink, job.plan.given, job.plan.missing, requested);
  raster_plan.axes = job.plan.axes;
  raster_plan.planes = job.plan.planes;
  return raster_plan;
}

/// Runs this process's part of a raster; other processes run the rest, and one finishes the result.
ExecutedPlan<Plan> run_part_of_raster(ImageJob& job, std::int64_t raster, const Plan& plan,
                                      ExecutionOptions options, Timeline& timeline) {
  const BandRange bands = bands_in(*job.part, raster, plan);
  ResumableWriter& sink = *job.sink->resumable();
  options.bands = bands;
  options.finishes = options.retry_smaller_plans = false;
  sink.begin_part(plan.sink_rect(bands.first).row, plan.sink_rect(bands.end - 1).row_end());
  ExecutedPlan<Plan> executed = run_one_raster(*job.source, *job.sink, plan, options, timeline);
  job.checkpoint->append({.raster = raster,
                          .bands = {{bands.first, bands.end}},
                          .pixels = plan.pixels_of(bands),
                          .state = sink.take_state()});
  return executed;
}

/// Ends a raster without its remaining parts, so that the next one is positioned after it.
void mark_rest_written(Writer& sink) {
  sink.resumable()->mark_rest_written();
  sink.finish();
}

/// Runs the bands of a raster that previous runs have not completed.
ExecutedPlan<Plan> run_remaining(ImageJob& job, std::int64_t raster, const Plan& plan,
                                 ExecutionOptions options, CheckpointWriter& checkpoint, Timeline& timeline) {
  const std::vector<BandRange> remaining = checkpoint.restore_raster(raster, *job.sink, plan, options.stop);
  options.started = [&job, callback = std::move(options.started)](const Plan& run) {
    job.checkpoint->set_manifest([job_manifest = job.job_manifest, run] { return job_manifest(run); });
    if (callback) callback(run);
  };
  options.written = [&, callback = std::move(options.written)](const Plan& run, std::int64_t band) {
    checkpoint.written(run, band);
    if (callback) callback(run, band);
  };
  options.retry_smaller_plans = options.retry_smaller_plans && !job.checkpoint->is_begun();
  options.finishes = false;
  ExecutedPlan<Plan> executed{plan};
  for (const BandRange bands : remaining) {
    if (bands != plan.all_bands()) options.bands = bands;
    executed = run_one_raster(*job.source, *job.sink, plan, options, timeline);
  }
  job.sink->prepare_finish();
  if (options.stop.stop_requested()) throw Cancelled();
  if (raster + 1 == job.count()) {
    job.check_unchanged();
    checkpoint.end();
  }
  job.sink->finish();
  return executed;
}

void check_applicable(const ImageJob& job, std::int64_t raster, const Plan& plan) {
  if (!is_applicable(plan, job))
    throw InvalidArgument(
        fmt::format("images that are stored in different ways cannot be filtered in several runs, and that "
                    "at {} is {}; make the result in one",
                    position_text(job.plan.axes, raster), job.source->layout().description));
}

/// Runs one part of a job. A part may begin and end within a raster.
RunReport run_part_of(ImageJob& job, const ExecutionOptions& options) {
  Plan plan = job.plan;
  const std::int64_t bands = plan.band_count();
  const std::int64_t first = job.part->first / bands, last = (job.part->end - 1) / bands;
  const std::int64_t rasters = last - first + 1;
  std::int64_t pixels = 0, bytes_stored = 0;
  for (std::int64_t raster = first; raster <= last; ++raster)
    pixels += plan.pixels_of(bands_in(*job.part, raster, plan));
  Timeline timeline;
  RasterSetProgress progress(options.progress, rasters, RasterSetProgress::Totals{job.part->count(), pixels});
  ExecutionOptions execution = options;
  SharedBuffers memory(options);
  if (rasters > 1) memory.use_for(execution);
  std::optional<double> startup_seconds;
  const bool can_skip = first > 0 && job.sinks->skip_to(first);
  for (std::int64_t raster = can_skip ? first : 0; raster <= last; ++raster) {
    if (raster > 0) {
      if (!can_skip || raster > first) mark_rest_written(*job.sink);
      job.advance(raster);
      switch_to_raster(plan, raster);
      check_applicable(job, raster, plan);
    }
    if (raster < first) continue;
    execution.progress = progress.next();
    execution.observer = raster == first ? options.observer : nullptr;
    timeline.begin_image(raster - first);
    const ExecutedPlan<Plan> executed = run_part_of_raster(job, raster, plan, execution, timeline);
    if (!startup_seconds) startup_seconds = executed.startup_seconds;
    append_unique(job.plan.warnings, executed.plan.warnings);
    bytes_stored += job.source->stored_bytes();
  }
  job.check_unchanged();
  job.checkpoint->finish_part();
  const BandRange bands_per_raster = rasters == 1 ? bands_in(*job.part, first, plan) : plan.all_bands();
  Plan reported = plan;
  reported.warnings = job.plan.warnings;
  return make_report(reported, *job.source, *job.sink, bands_per_raster, timeline, *startup_seconds,
                     bytes_stored, rasters, rasters * plan.pixels_of(bands_per_raster) - pixels);
}

/// Ends a job whose result a previous run has completed and renamed.
RunReport run_named(ImageJob& job) {
  job.checkpoint->remove();
  return make_report(job.plan, *job.source, *job.sink, job.plan.all_bands(), Timeline(), 0, 0, job.count(),
                     job.count() * job.plan.pixels_of(job.plan.all_bands()));
}

struct FinishedRaster {
  ExecutedPlan<Plan> executed;
  std::int64_t pixels_before = 0;  ///< computed by previous runs
};

/// Runs one raster with the previous rasters' plan, and replaces `plan` by the one for the next raster.
using RunRaster =
    std::function<FinishedRaster(std::int64_t raster, Plan& plan, const ExecutionOptions&, Timeline&)>;

/// Runs all rasters of a job in sequence.
RunReport run_rasters(ImageJob& job, const ExecutionOptions& options, const RunRaster& run_raster) {
  const std::int64_t count = job.count();
  Timeline timeline;
  RasterSetProgress progress(options.progress, count);
  ExecutionOptions execution = options;
  Plan plan = job.plan;
  double startup_seconds = 0;
  std::int64_t bytes_stored = 0, pixels_before = 0;
  for (std::int64_t raster = 0; raster < count; ++raster) {
    if (raster > 0) {
      job.advance(raster);
      switch_to_raster(plan, raster);
    }
    execution.progress = progress.next();
    execution.observer = raster == 0 ? options.observer : nullptr;
    timeline.begin_image(raster);
    const FinishedRaster finished = run_raster(raster, plan, execution, timeline);
    if (raster == 0) startup_seconds = finished.executed.startup_seconds;
    append_unique(job.plan.warnings, finished.executed.plan.warnings);
    pixels_before += finished.pixels_before;
    bytes_stored += job.source->stored_bytes();
  }
  if (options.stop.stop_requested() && count > 1) throw Cancelled();
  const BandRange bands = options.bands.value_or(plan.all_bands());
  if (bands == plan.all_bands()) job.finish();
  plan.warnings = job.plan.warnings;
  return make_report(plan, *job.source, *job.sink, bands, timeline, startup_seconds, bytes_stored, count,
                     pixels_before);
}

RunReport run_without_checkpoint(ImageJob& job, const ExecutionOptions& options, SharedBuffers& memory) {
  const RunRaster run_raster = [&](std::int64_t raster, Plan& plan, const ExecutionOptions& execution,
                                   Timeline& timeline) -> FinishedRaster {
    if (raster == 0 || is_applicable(plan, job)) {
      ExecutedPlan<Plan> executed = run_one_raster(*job.source, *job.sink, plan, execution, timeline);
      plan = executed.plan;
      return {std::move(executed)};
    }
    memory.free_all();
    ExecutedPlan<Plan> executed =
        run_one_raster(*job.source, *job.sink, plan_for_raster(job, raster, options), execution, timeline);
    memory.free_all();
    return {std::move(executed)};
  };
  return run_rasters(job, options, run_raster);
}

RunReport run_with_checkpoint(ImageJob& job, const ExecutionOptions& options) {
  CheckpointWriter checkpoint(job, options.sync_seconds);
  const RunRaster run_raster = [&](std::int64_t raster, Plan& plan, const ExecutionOptions& execution,
                                   Timeline& timeline) -> FinishedRaster {
    if (raster > 0) check_applicable(job, raster, plan);
    ExecutedPlan<Plan> executed = run_remaining(job, raster, plan, execution, checkpoint, timeline);
    plan = executed.plan;
    return {std::move(executed), checkpoint.pixels_before()};
  };
  return run_rasters(job, options, run_raster);
}

RunReport run_job(ImageJob job, ExecutionOptions options) {
  options.retry_smaller_plans = true;
  return run(job, options);
}

}  // namespace

RunReport run(ImageJob& job, const ExecutionOptions& options) {
  const std::int64_t count = job.count();
  if (count > 1 && options.bands)
    throw InvalidArgument(
        fmt::format("bands are of one image, and the input has {} ({}); name one with OpenOptions::select",
                    count, to_string(job.plan.axes)));
  if (job.is_named) return run_named(job);
  if (job.part) return run_part_of(job, options);
  ExecutionOptions execution = options;
  execution.finishing = [&job, &requested = options.finishing] {
    job.check_unchanged();
    if (requested) requested();
  };
  SharedBuffers memory(options);
  if (count > 1) memory.use_for(execution);
  return job.checkpoint ? run_with_checkpoint(job, execution)
                        : run_without_checkpoint(job, execution, memory);
}

RunReport run_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_job(plan_file(input, output, chain, options, files), options);
}

RunReport permute_file(const std::filesystem::path& input, const std::filesystem::path& output,
                       const Permutation& permutation, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_job(plan_permutation(input, output, permutation, options, files), options);
}

RunReport resume_file(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_job(plan_resumed(input, output, chain, options, files), options);
}

RunReport run_part(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, std::int64_t part, std::int64_t parts, const RunOptions& options,
                   const FileOptions& files) {
  check_no_bands(options);
  ImageJob job = plan_part(input, output, chain, part, parts, options, files);
  return run(job, options);
}

RunReport finish_file(const std::filesystem::path& output, const ExecutionOptions& options, Formats formats,
                      const std::string& begun) {
  if (remove_completed(output, begun)) return {};
  ImageJob job = plan_finish(output, formats, begun);
  return run(job, options);
}

}  // namespace sepconv
