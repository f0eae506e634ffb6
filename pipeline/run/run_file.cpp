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

/// Memory that goes from raster to raster: getting it again for each takes longer than small ones do.
class SharedBuffers {
 public:
  explicit SharedBuffers(const ExecutionOptions& options)
      : host_(host_memory(options)), pinned_(pinned_memory(options)), device_(device_memory(options)) {}

  void lend(ExecutionOptions& options) {
    options.memory = &host_;
    options.pinned_memory = &pinned_;
    options.device_memory = &device_;
  }

  /// Before and after a plan of other sizes, which has the ceilings for itself.
  void release() {
    for (BufferPool* const pool : {&host_, &pinned_, &device_}) pool->release();
  }

 private:
  BufferPool host_, pinned_, device_;
};

/// Whether a plan for the first raster holds for this one, too: its blocks, and its ceiling.
bool serves(const Plan& plan, const Reader& source, const Writer& sink) {
  const std::int64_t held = plan.memory.slots + plan.memory.scratch + plan.memory.resident +
                            source.buffer_bytes(plan.threads) + sink.buffer_bytes(plan.threads);
  const MissingPixels missing = missing_pixels(source, plan.given, plan.asked.missing, sink.layout());
  const Chain chain = apply_nodata_policy(missing, plan.given, source.spec(), plan.asked.arithmetic);
  if (chain.transposes_last().text() != plan.chain.text()) return false;
  return plan.finds_blocks(source.layout(), sink.layout()) &&
         source.layout().description == plan.source_layout && sink.layout().description == plan.sink_layout &&
         held <= std::max(plan.max_memory_bytes, plan.memory.total());
}

Plan plan_for_raster(const ImageJob& job, std::int64_t raster, const ExecutionOptions& options) {
  if (!options.smaller_plans)
    throw InvalidArgument(fmt::format(
        "the plan is for images that are stored as the first is, and not for that at {}, which is {}; leave "
        "the plan out",
        position_text(job.plan.axes, raster), job.source->layout().description));
  PlanOptions asked = job.plan.asked;
  asked.choose_device = false;
  asked.devices = job.plan.devices;
  Plan own = plan(*job.source, *job.sink, job.plan.given, asked);
  own.axes = job.plan.axes;
  own.planes = job.plan.planes;
  return own;
}

/// What one process makes of a raster: other processes make the rest, and one finishes all.
ExecutedPlan<Plan> run_own_part(ImageJob& job, std::int64_t raster, const Plan& plan,
                                ExecutionOptions options, Timeline& timeline) {
  const BandRange bands = bands_in(*job.part, raster, plan);
  ResumableWriter& sink = *job.sink->resumable();
  options.bands = bands;
  options.finishes = options.smaller_plans = false;
  sink.begin_part(plan.sink_rect(bands.first).row, plan.sink_rect(bands.end - 1).row_end());
  ExecutedPlan<Plan> ran = run_one(*job.source, *job.sink, plan, options, timeline);
  job.partial->append({.raster = raster,
                       .bands = {{bands.first, bands.end}},
                       .pixels = plan.pixels_of(bands),
                       .state = sink.take_state()});
  return ran;
}

/// A raster of which this process makes nothing more, so that the next one gets its place behind it.
void leave_rest(Writer& sink) {
  sink.resumable()->leave_rest();
  sink.finish();
}

/// What runs before have left of a raster.
ExecutedPlan<Plan> run_rest(ImageJob& job, std::int64_t raster, const Plan& plan, ExecutionOptions options,
                            CheckpointWriter& journal, Timeline& timeline) {
  const std::vector<BandRange> left = journal.begin_raster(raster, *job.sink, plan, options.stop);
  options.started = [&job, told = std::move(options.started)](const Plan& run) {
    job.partial->will_begin([job_manifest = job.job_manifest, run] { return job_manifest(run); });
    if (told) told(run);
  };
  options.written = [&, told = std::move(options.written)](const Plan& run, std::int64_t band) {
    journal.written(run, band);
    if (told) told(run, band);
  };
  options.smaller_plans = options.smaller_plans && job.partial->beginning().empty();
  options.finishes = false;
  ExecutedPlan<Plan> ran{plan};
  for (const BandRange bands : left) {
    if (bands != plan.all_bands()) options.bands = bands;
    ran = run_one(*job.source, *job.sink, plan, options, timeline);
  }
  job.sink->prepare_finish();
  if (options.stop.stop_requested()) throw Cancelled();
  if (raster + 1 == job.count()) {
    job.check_unchanged();
    journal.end();
  }
  job.sink->finish();
  return ran;
}

void check_serves(const ImageJob& job, std::int64_t raster, const Plan& plan) {
  if (!serves(plan, *job.source, *job.sink))
    throw InvalidArgument(
        fmt::format("images that are stored in different ways cannot be filtered in several runs, and that "
                    "at {} is {}; make the result in one",
                    position_text(job.plan.axes, raster), job.source->layout().description));
}

/// A job of which only a part is made: the last bands of a raster, all of some, and the first of one; or some
/// of one.
RunReport run_part_of(ImageJob& job, const ExecutionOptions& options) {
  Plan plan = job.plan;
  const std::int64_t bands = plan.band_count();
  const std::int64_t first = job.part->first / bands, last = (job.part->end - 1) / bands;
  const std::int64_t rasters = last - first + 1;
  std::int64_t pixels = 0, bytes_stored = 0;
  for (std::int64_t raster = first; raster <= last; ++raster)
    pixels += plan.pixels_of(bands_in(*job.part, raster, plan));
  Timeline timeline;
  SetProgress progress(options.progress, rasters, SetProgress::All{job.part->count(), pixels});
  ExecutionOptions execution = options;
  SharedBuffers memory(options);
  if (rasters > 1) memory.lend(execution);
  std::optional<double> startup_seconds;
  const bool skips = first > 0 && job.sinks->skip_to(first);
  for (std::int64_t raster = skips ? first : 0; raster <= last; ++raster) {
    if (raster > 0) {
      if (!skips || raster > first) leave_rest(*job.sink);
      job.advance(raster);
      go_to_raster(plan, raster);
      check_serves(job, raster, plan);
    }
    if (raster < first) continue;
    execution.progress = progress.next();
    execution.observer = raster == first ? options.observer : nullptr;
    timeline.begin_image(raster - first);
    const ExecutedPlan<Plan> ran = run_own_part(job, raster, plan, execution, timeline);
    if (!startup_seconds) startup_seconds = ran.startup_seconds;
    add_new(job.plan.warnings, ran.plan.warnings);
    bytes_stored += job.source->stored_bytes();
  }
  job.check_unchanged();
  job.partial->finish_part();
  const BandRange of_each = rasters == 1 ? bands_in(*job.part, first, plan) : plan.all_bands();
  Plan told = plan;
  told.warnings = job.plan.warnings;
  return make_report(told, *job.source, *job.sink, of_each, timeline, *startup_seconds, bytes_stored, rasters,
                     rasters * plan.pixels_of(of_each) - pixels);
}

/// For which a run before has made all.
RunReport run_named(ImageJob& job) {
  job.partial->remove();
  return make_report(job.plan, *job.source, *job.sink, job.plan.all_bands(), Timeline(), 0, 0, job.count(),
                     job.count() * job.plan.pixels_of(job.plan.all_bands()));
}

struct FinishedRaster {
  ExecutedPlan<Plan> ran;
  std::int64_t pixels_before = 0;  ///< that runs before have made
};

/// Makes a raster by the plan of those before it, which is what served then, and the next one's.
using MakeRaster =
    std::function<FinishedRaster(std::int64_t raster, Plan& plan, const ExecutionOptions&, Timeline&)>;

/// All of a job, one after another.
RunReport run_rasters(ImageJob& job, const ExecutionOptions& options, const MakeRaster& make) {
  const std::int64_t count = job.count();
  Timeline timeline;
  SetProgress progress(options.progress, count);
  ExecutionOptions execution = options;
  Plan plan = job.plan;
  double startup_seconds = 0;
  std::int64_t bytes_stored = 0, pixels_before = 0;
  for (std::int64_t raster = 0; raster < count; ++raster) {
    if (raster > 0) {
      job.advance(raster);
      go_to_raster(plan, raster);
    }
    execution.progress = progress.next();
    execution.observer = raster == 0 ? options.observer : nullptr;
    timeline.begin_image(raster);
    const FinishedRaster made = make(raster, plan, execution, timeline);
    if (raster == 0) startup_seconds = made.ran.startup_seconds;
    add_new(job.plan.warnings, made.ran.plan.warnings);
    pixels_before += made.pixels_before;
    bytes_stored += job.source->stored_bytes();
  }
  if (options.stop.stop_requested() && count > 1) throw Cancelled();
  const BandRange bands = options.bands.value_or(plan.all_bands());
  if (bands == plan.all_bands()) job.finish();
  plan.warnings = job.plan.warnings;
  return make_report(plan, *job.source, *job.sink, bands, timeline, startup_seconds, bytes_stored, count,
                     pixels_before);
}

RunReport run_at_once(ImageJob& job, const ExecutionOptions& options, SharedBuffers& memory) {
  const MakeRaster make = [&](std::int64_t raster, Plan& plan, const ExecutionOptions& execution,
                              Timeline& timeline) -> FinishedRaster {
    if (raster == 0 || serves(plan, *job.source, *job.sink)) {
      ExecutedPlan<Plan> ran = run_one(*job.source, *job.sink, plan, execution, timeline);
      plan = ran.plan;
      return {std::move(ran)};
    }
    memory.release();
    ExecutedPlan<Plan> ran =
        run_one(*job.source, *job.sink, plan_for_raster(job, raster, options), execution, timeline);
    memory.release();
    return {std::move(ran)};
  };
  return run_rasters(job, options, make);
}

RunReport run_with_journal(ImageJob& job, const ExecutionOptions& options) {
  CheckpointWriter journal(job, options.sync_seconds);
  const MakeRaster make = [&](std::int64_t raster, Plan& plan, const ExecutionOptions& execution,
                              Timeline& timeline) -> FinishedRaster {
    if (raster > 0) check_serves(job, raster, plan);
    ExecutedPlan<Plan> ran = run_rest(job, raster, plan, execution, journal, timeline);
    plan = ran.plan;
    return {std::move(ran), journal.pixels_before()};
  };
  return run_rasters(job, options, make);
}

RunReport run_job(ImageJob job, ExecutionOptions options) {
  options.smaller_plans = true;
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
  execution.finishing = [&job, &asked = options.finishing] {
    job.check_unchanged();
    if (asked) asked();
  };
  SharedBuffers memory(options);
  if (count > 1) memory.lend(execution);
  return job.partial ? run_with_journal(job, execution) : run_at_once(job, execution, memory);
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

}  // namespace sepconv
