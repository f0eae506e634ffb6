#include "pipeline/run/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "io/resumable.hpp"
#include "kernels/device/buffer_pool.hpp"
#include "pipeline/plan/parts.hpp"
#include "pipeline/run/checkpoint_writer.hpp"
#include "pipeline/run/finish_raster.hpp"
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

/// Whether the plan, made for another raster, also applies to the current one, regarding blocks, nodata and
/// memory.
bool is_applicable(const ImageJob& job) {
  const Plan& plan = job.plan;
  const Reader& source = *job.source;
  const Writer& sink = *job.sink;
  const std::int64_t required = plan.memory.slots + plan.memory.scratch + plan.memory.resident +
                                source.buffer_bytes(plan.threads) + sink.buffer_bytes(plan.threads);
  const Chain chain = apply_nodata_policy(plan.missing, plan.given, source.spec(), plan.asked.arithmetic);
  return chain.transposes_last().text() == plan.chain.text() &&
         plan.matches_layouts(source.layout(), sink.layout()) &&
         source.layout().description == plan.source_layout && sink.layout().description == plan.sink_layout &&
         required <= std::max(plan.max_memory_bytes, plan.memory.total());
}

/// A plan for the current raster, to which the job's plan does not apply. Throws InvalidArgument if there can
/// be only one plan.
Plan plan_for_raster(const ImageJob& job, std::int64_t raster, const ExecutionOptions& options) {
  const std::string position = position_text(job.plan.axes, raster);
  const std::string& layout = job.source->layout().description;
  if (job.checkpoint)
    throw InvalidArgument(
        fmt::format("images that are stored in different ways cannot be filtered in several runs, and that "
                    "at {} is {}; make the result in one",
                    position, layout));
  if (!options.retry_smaller_plans)
    throw InvalidArgument(fmt::format(
        "the plan is for images that are stored as the first is, and not for that at {}, which is {}; leave "
        "the plan out",
        position, layout));
  return plan_again(job.plan, *job.source, *job.sink, job.plan.asked);
}

/// Runs this process's part of a raster; other processes run the rest, and one finishes the result.
ExecutedPlan<Plan> run_part_of_raster(ImageJob& job, std::int64_t raster, ExecutionOptions options,
                                      Timeline& timeline) {
  const Plan& plan = job.plan;
  const BandRange bands = bands_in(*job.part, raster, plan);
  ResumableWriter& sink = *job.sink->resumable();
  options.bands = bands;
  options.finishes = options.retry_smaller_plans = false;
  sink.begin_part(plan.sink_rect(bands.first).row, plan.sink_rect(bands.end - 1).row_end());
  ExecutedPlan<Plan> executed = run_raster(*job.source, *job.sink, plan, options, timeline);
  job.checkpoint->append({.raster = raster,
                          .bands = {{bands.first, bands.end}},
                          .pixels = plan.pixels_of(bands),
                          .state = sink.take_state()});
  return executed;
}

/// Runs the bands of a raster that previous runs have not completed.
ExecutedPlan<Plan> run_remaining_bands(ImageJob& job, std::int64_t raster, ExecutionOptions options,
                                       CheckpointWriter& checkpoint, Timeline& timeline) {
  const Plan& plan = job.plan;
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
    ExecutedPlan<Plan> range = run_raster(*job.source, *job.sink, plan, options, timeline);
    append_unique(range.plan.warnings, executed.plan.warnings);
    add_lanes(range.lanes, executed.lanes);
    executed = std::move(range);
  }
  finish_raster(*job.sink, options.stop, [&] {
    if (raster + 1 < job.count()) return;
    job.check_unchanged();
    checkpoint.end();
  });
  return executed;
}

/// Runs the current raster, and replaces the job's plan by the one that was executed, unless the raster needs
/// a separate plan. Adds to `lanes`. Returns the startup time.
double run_current_raster(ImageJob& job, std::int64_t raster, const ExecutionOptions& options,
                          CheckpointWriter* checkpoint, SharedBuffers& buffers,
                          std::vector<LaneReport>& lanes, Timeline& timeline) {
  std::optional<Plan> separate;
  if (raster > 0 && !is_applicable(job)) separate = plan_for_raster(job, raster, options);
  if (separate) buffers.free_all();
  ExecutedPlan<Plan> executed =
      job.part     ? run_part_of_raster(job, raster, options, timeline)
      : checkpoint ? run_remaining_bands(job, raster, options, *checkpoint, timeline)
                   : run_raster(*job.source, *job.sink, separate ? *separate : job.plan, options, timeline);
  append_unique(job.plan.warnings, executed.plan.warnings);
  add_lanes(lanes, executed.lanes);
  if (separate) {
    buffers.free_all();
  } else {
    executed.plan.warnings = std::move(job.plan.warnings);
    job.plan = std::move(executed.plan);
  }
  return executed.startup_seconds;
}

/// Ends a raster without its remaining parts, so that the next one is positioned after it.
void mark_rest_written(Writer& sink) {
  sink.resumable()->mark_rest_written();
  sink.finish();
}

/// The rasters [first, end) of a job or its part.
std::pair<std::int64_t, std::int64_t> rasters_of(const ImageJob& job) {
  if (!job.part) return {0, job.count()};
  const std::int64_t bands = job.plan.band_count();
  return {job.part->first / bands, (job.part->end - 1) / bands + 1};
}

/// The totals of a part, which may begin and end within a raster.
std::optional<RasterSetProgress::Totals> part_totals(const ImageJob& job) {
  if (!job.part) return std::nullopt;
  RasterSetProgress::Totals totals{job.part->count(), 0};
  const auto [first, end] = rasters_of(job);
  for (std::int64_t raster = first; raster < end; ++raster)
    totals.pixels += job.plan.pixels_of(bands_in(*job.part, raster, job.plan));
  return totals;
}

/// After the last raster: records the part, or completes the file if all bands were run.
void finish(ImageJob& job, const ExecutionOptions& options, bool is_all) {
  if (job.part) {
    job.check_unchanged();
    return job.checkpoint->finish_part();
  }
  if (options.stop.stop_requested() && job.count() > 1) throw Cancelled();
  if (is_all) job.finish();
}

RunReport run_with_retries(ImageJob job, ExecutionOptions options) {
  options.retry_smaller_plans = true;
  return run(job, options);
}

}  // namespace

RunReport run(ImageJob& job, const ExecutionOptions& options) {
  if (job.count() > 1 && options.bands)
    throw InvalidArgument(
        fmt::format("bands are of one image, and the input has {} ({}); name one with OpenOptions::select",
                    job.count(), to_string(job.plan.axes)));
  Timeline timeline;
  if (job.is_named) {
    job.checkpoint->remove();
    const BandRange all = job.plan.all_bands();
    return make_report(job.plan, *job.source, *job.sink, all, timeline, 0, 0, job.count(), 0);
  }
  const auto [first, end] = rasters_of(job);
  ExecutionOptions execution = options;
  execution.finishing = [&job, &requested = options.finishing] {
    job.check_unchanged();
    if (requested) requested();
  };
  SharedBuffers buffers(options);
  if (end - first > 1) buffers.use_for(execution);
  std::optional<CheckpointWriter> checkpoint;
  if (job.checkpoint && !job.part) checkpoint.emplace(job, options.sync_seconds);
  RasterSetProgress progress(options.progress, end - first, part_totals(job));
  double startup_seconds = 0;
  std::vector<LaneReport> lanes;
  std::int64_t bytes_stored = 0, pixels = 0;
  BandRange bands;
  const bool skips = first > 0 && job.sinks->skip_to(first);
  for (std::int64_t raster = skips ? first : 0; raster < end; ++raster) {
    if (job.part && raster > (skips ? first : 0)) mark_rest_written(*job.sink);
    if (raster > 0) job.advance(raster);
    if (raster < first) continue;
    execution.progress = progress.next();
    execution.observer = raster == first ? options.observer : nullptr;
    timeline.begin_image(raster - first);
    const double startup = run_current_raster(job, raster, execution, checkpoint ? &*checkpoint : nullptr,
                                              buffers, lanes, timeline);
    if (raster == first) startup_seconds = startup;
    bands = job.part ? bands_in(*job.part, raster, job.plan) : options.bands.value_or(job.plan.all_bands());
    pixels += job.plan.pixels_of(bands) - (checkpoint ? checkpoint->pixels_before() : 0);
    bytes_stored += job.source->stored_bytes();
  }
  if (end - first > 1) bands = job.plan.all_bands();
  finish(job, options, bands == job.plan.all_bands());
  RunReport report = make_report(job.plan, *job.source, *job.sink, bands, timeline, startup_seconds,
                                 bytes_stored, end - first, pixels);
  report.lanes = std::move(lanes);
  return report;
}

RunReport run_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_with_retries(plan_file(input, output, chain, options, files), options);
}

RunReport permute_file(const std::filesystem::path& input, const std::filesystem::path& output,
                       const Permutation& permutation, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_with_retries(plan_permutation(input, output, permutation, options, files), options);
}

RunReport resume_file(const std::filesystem::path& input, const std::filesystem::path& output,
                      const Chain& chain, const RunOptions& options, const FileOptions& files) {
  check_no_bands(options);
  return run_with_retries(plan_resumed(input, output, chain, options, files), options);
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
