#include "sepconv/pipeline/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <new>

#include "sepconv/core/error.hpp"
#include "sepconv/io/rows.hpp"
#include "sepconv/kernels/simd/targets.hpp"
#include "sepconv/pipeline/chain_tile.hpp"
#include "sepconv/pipeline/report.hpp"
#include "sepconv/pipeline/streaming.hpp"

namespace sepconv {
namespace {

template <class... Values>
void log_info(const RunOptions& options, fmt::format_string<Values...> format, Values&&... values) {
  if (options.logger) options.logger->info(fmt::format(format, std::forward<Values>(values)...));
}

/// One attempt with one plan. Nothing has been read or written when this throws OutOfMemory for the plan's
/// own buffers.
std::unique_ptr<StreamingRun> prepare(Reader& source, Writer& sink, const Chain& chain, const Plan& plan,
                                      const RunOptions& options) {
  log_info(options, "plan: bands of {} x {}, {} slots, {} threads, tiles of {} x {}, {} of {}",
           plan.band.rows, plan.band.cols, plan.slots, plan.threads, plan.tile.rows, plan.tile.cols,
           format_bytes(static_cast<double>(plan.memory.total())),
           format_bytes(static_cast<double>(plan.max_memory_bytes)));
  return std::make_unique<StreamingRun>(source, sink, chain, plan, options);
}

StepReport step_report(const Timeline& timeline, const std::string& name) {
  const std::vector<Span> spans = timeline.spans();
  StepReport step{name, busy_seconds(spans, name), hidden_seconds(spans, name), 0, 0};
  for (const Span& span : spans) {
    if (span.track == name) step.bytes += span.bytes;
  }
  return step;
}

RunReport make_report(const Plan& plan, const Timeline& timeline, const Reader& source) {
  RunReport report;
  report.plan = plan;
  report.wall_seconds = timeline.now();
  for (const char* name : {"read", "compute", "write"}) report.steps.push_back(step_report(timeline, name));
  report.steps[1].operations = plan.operations;
  report.bottleneck = std::ranges::max_element(report.steps, {}, &StepReport::busy_seconds)->name;
  report.device =
      fmt::format("CPU, {} thread{}, {}", plan.threads, plan.threads == 1 ? "" : "s", simd_target());
  report.bytes_stored = source.stored_bytes();
  report.timeline = timeline;
  return report;
}

/// Every tile of an image that is in memory already.
void compute_image(const Chain& chain, const Plan& plan, const ConstRegion& in, const Region& out,
                   const RunOptions& options) {
  const std::vector<Rect> tiles = tiles_of(out.rect, plan.tile);
  const int threads = std::min(plan.threads, static_cast<int>(std::min<std::size_t>(tiles.size(), 1024)));
  std::vector<Arena> arenas;
  for (int worker = 0; worker < threads; ++worker) {
    arenas.emplace_back(
        Buffer(plan.arena_bytes, options.memory != nullptr ? options.memory : page_resource()), options.stop);
  }
  const auto compute = [&](std::int64_t index, int worker) {
    compute_tile(chain, plan.specs, plan.arithmetic, in, out.crop(tiles[static_cast<std::size_t>(index)]),
                 arenas[static_cast<std::size_t>(worker)]);
  };
  const auto count = static_cast<std::int64_t>(tiles.size());
  if (threads == 1) return SerialExecutor().for_each(count, compute);
  ThreadPool(threads, options.stop).for_each(count, compute);
}

}  // namespace

RunReport run(Reader& source, Writer& sink, const Chain& chain, const RunOptions& options) try {
  Plan plan = make_plan(chain, source, sink, options);
  Timeline timeline;
  std::unique_ptr<StreamingRun> streaming;
  for (RunOptions smaller = options; streaming == nullptr;) {
    try {
      streaming = prepare(source, sink, chain, plan, options);
    } catch (const OutOfMemory& error) {
      log_info(options, "{}; trying a smaller plan", error.what());
      smaller.max_memory_bytes = plan.memory.total() / 2;
      plan = make_plan(chain, source, sink, smaller);
    }
  }
  streaming->execute(timeline);
  streaming.reset();
  const double begin = timeline.now();
  sink.prepare_finish();
  if (options.stop.stop_requested()) throw Cancelled();
  sink.finish();
  timeline.record({"write", plan.band_count(), begin, timeline.now(), 0});
  return make_report(plan, timeline, source);
} catch (const std::bad_alloc&) {
  throw OutOfMemory(
      "memory ran out in mid-run; give a smaller --max-memory so that smaller bands are planned");
}

void apply(const Chain& chain, const ConstPixelView& in, const PixelView& out, const RunOptions& options) {
  const auto source = make_memory_reader(in);
  const auto sink = make_memory_writer(out);
  PlanOptions plan_options = options;
  plan_options.band_rows =
      out.extent.rows;  // one band, of which only the choice of tiles is used: nothing is copied
  plan_options.slots = 1;
  plan_options.max_memory_bytes = std::numeric_limits<std::int64_t>::max();
  const Plan plan = make_plan(chain, *source, *sink, plan_options);
  compute_image(chain, plan, ConstRegion::whole(in), Region::whole(out), options);
}

}  // namespace sepconv
