#include "pipeline/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "pipeline/plan/clipping.hpp"
#include "pipeline/plan/cost.hpp"
#include "pipeline/plan/device_choice.hpp"
#include "pipeline/plan/memory_limits.hpp"
#include "pipeline/plan/plan_notes.hpp"
#include "pipeline/plan/secondary_inputs.hpp"
#include "pipeline/plan/tiling_search.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kScratchDivisor = 8;        // arenas take at most 1/8 of the ceiling, if that suffices
constexpr std::int64_t kMaxArenaBytes = 32 << 20;  // larger scratch was not measured to be faster
// The neighbours of a pixel of a volume are many planes and rows: small tiles repeat most of the work.
constexpr std::int64_t kVolumeScratchDivisor = 2;
constexpr std::int64_t kMaxVolumeArenaBytes = 256 << 20;

void check_edges(const PlanProblem& problem) {
  if (problem.source.layout().access == Access::sequential && reads_opposite_edge(problem)) {
    throw InvalidArgument(
        "border=wrap needs the last rows of the source for the first ones, but this source gives each row "
        "once, from top to bottom; give an image file, or another border");
  }
}

/// The GPUs that can share the work. They compute bands out of order, so a sequential source or sink can use
/// only one.
std::vector<int> useful_devices(const PlanOptions& options, const Reader& source, const Writer& sink) {
  const bool in_order =
      source.layout().access == Access::sequential || sink.layout().access == Access::sequential;
  if (in_order && options.devices.size() > 1) return {options.devices.front()};
  return options.devices;
}

/// The requested region, or the whole result. Throws InvalidArgument if it is not inside.
Rect region_of(Extent result, const Rect& asked) {
  if (asked == Rect{}) return Rect::whole(result);
  const auto is_inside = [](std::int64_t first, std::int64_t count, std::int64_t side) {
    return first >= 0 && first < side && count > 0 && count <= side - first;
  };
  if (!is_inside(asked.row, asked.rows, result.rows) || !is_inside(asked.col, asked.cols, result.cols))
    throw InvalidArgument(
        fmt::format("a region of {} rows and {} columns from row {} and column {} on does not lie in the "
                    "result of {} rows and {} columns; set PlanOptions::region to a part of it",
                    asked.rows, asked.cols, asked.row, asked.col, result.rows, result.cols));
  return asked;
}

/// The best tiling with a cache for blocks that several images share: all of an image's, else a row of them,
/// if that takes at most half of the ceiling and a tiling still fits.
Tiling cut_with_shared_blocks(PlanProblem& problem, const PlanOptions& options, int threads,
                              const Ceilings& ceilings) {
  const Reader::SharedBlocks shared = problem.source.shared_blocks();
  const std::int64_t max_arena_bytes = problem.max_arena_bytes;
  for (const std::int64_t bytes : {shared.all_bytes, shared.row_bytes}) {
    if (bytes == 0 || bytes > ceilings.host / 2) continue;
    try {
      problem.buffered_bytes = bytes;
      return best_cut(problem, options, threads, ceilings);
    } catch (const OutOfMemory&) {
      problem.buffered_bytes = 0;
      problem.max_arena_bytes = max_arena_bytes;
    }
  }
  return best_cut(problem, options, threads, ceilings);
}

/// Scratch bytes per thread.
std::int64_t arena_bytes_below(std::int64_t ceiling, int threads, bool is_volume) {
  if (is_volume)
    return std::clamp(ceiling / kVolumeScratchDivisor / threads, kMinArenaBytes, kMaxVolumeArenaBytes);
  return std::clamp(ceiling / kScratchDivisor / threads, kMinArenaBytes, kMaxArenaBytes);
}

/// How often the image is read plus how often it is computed.
double work_factor(const PlanProblem& problem, const Tiling& cut) {
  return cut.operations / std::max(whole_operations(problem), 1.0) +
         static_cast<double>(cut.bytes_read) / static_cast<double>(problem.source.spec().bytes());
}

/// Warning for a tiling that repeats most work for lack of memory, with a ceiling of up to four times as much
/// that avoids it. Empty if not applicable.
std::string short_memory_warning(PlanProblem& problem, const PlanOptions& options, int threads,
                                 const Tiling& cut, const Ceilings& ceilings) {
  constexpr double kMaxFactor = 20;
  constexpr std::int64_t kMaxCeiling = std::int64_t{1} << 60;  // four times as much fits the type
  const double factor = work_factor(problem, cut);
  if (factor < kMaxFactor || ceilings.host > kMaxCeiling) return {};
  const std::int64_t max_arena_bytes = problem.max_arena_bytes;
  std::string warning;
  for (int halves = 3; halves <= 8 && warning.empty(); ++halves) {
    const Ceilings larger{ceilings.host / 2 * halves, ceilings.device};
    problem.max_arena_bytes = arena_bytes_below(larger.host, threads, problem.is_volume());
    try {
      const double lower_factor = work_factor(problem, best_cut(problem, options, threads, larger));
      if (lower_factor < factor / 2)
        warning = fmt::format(
            "memory is short: bands share so much of what they need that the run takes about {:.3g} times "
            "what the image does; raise PlanOptions::max_memory_bytes to {}, and it is {:.2g} times",
            factor / 2, size_option(larger.host), lower_factor / 2);
    } catch (const OutOfMemory&) {  // does not fit either
    }
  }
  problem.max_arena_bytes = max_arena_bytes;
  return warning;
}

/// Plans with `options`; `asked` are the options recorded in the plan, which differ for a stored plan.
Plan make_plan(const Reader& source, const Writer& sink, const Chain& given, const MissingPixels& missing,
               const PlanOptions& asked, const PlanOptions& options) {
  Plan plan;
  plan.asked = asked;
  plan.given = given;
  check_image("the source", source.spec());
  given.check_supports(source);
  plan.missing = missing.stored_in(sink.layout());
  check_stored(plan.missing, given);
  const Chain nodata_chain = apply_nodata_policy(plan.missing, given, source.spec(), options.arithmetic);
  plan.chain = nodata_chain.transposes_last();
  const Chain& chain = plan.chain;
  plan.specs = chain.specs(source.spec());
  plan.graph = Graph(chain, source.spec());
  plan.region = region_of(plan.result().extent, options.region);
  if (plan.sink() != sink.spec())
    throw InvalidArgument("the sink was not made for this chain's result: their shapes or types differ");
  if (plan.sink() != plan.result() && source.layout().access == Access::sequential)
    throw InvalidArgument(
        "a region needs a source that takes any rectangle, and this one goes row by row; leave "
        "PlanOptions::region out");
  plan.arithmetic = chain.arithmetic(source.spec(), options.arithmetic);
  plan.max_memory_bytes = memory_ceiling(options);
  const int threads = threads_of(options);

  plan.devices = useful_devices(options, source, sink);
  if (!plan.devices.empty())
    if (const std::string reason = chain.why_not_on_device(); !reason.empty()) throw NotOnDevice(reason);
  plan.max_device_memory_bytes = device_memory_ceiling(plan.devices, options);
  PlanProblem problem{chain,           plan.graph, plan.specs,
                      plan.arithmetic, source,     sink,
                      options.machine, 0,          static_cast<int>(plan.devices.size()),
                      plan.region};
  problem.context_seconds = context_seconds(options.machine, plan.devices);
  problem.max_arena_bytes = arena_bytes_below(plan.max_memory_bytes, threads, problem.is_volume());
  problem.seconds = open_secondaries(chain, plan.specs);
  problem.find_transposes();
  check_edges(problem);
  if (!plan.devices.empty()) problem.codecs = device_codecs(source, sink, reads_beyond_edges(problem));
  if (options.with_cpu && !plan.devices.empty()) {
    plan.why_not_shared = why_not_shared(problem, asked.choose_device);
    plan.with_cpu = problem.with_cpu = plan.why_not_shared.empty();
  }
  plan.turned = problem.turned;
  plan.item = problem.item;
  const Ceilings ceilings{plan.max_memory_bytes, plan.max_device_memory_bytes};
  const Tiling cut = cut_with_shared_blocks(problem, options, threads, ceilings);
  plan.buffered_bytes = problem.buffered_bytes;
  plan.threads = cut.threads;
  plan.slots = cut.slots;
  plan.band = cut.band;
  plan.tile = cut.tile;
  plan.slot_input_bytes = cut.slot_input_bytes;
  plan.slot_output_bytes = cut.slot_output_bytes;
  plan.arena_bytes = cut.arena_bytes;
  plan.memory = cut.memory;
  plan.device_memory = cut.device_memory;
  if (problem.codecs.decodes) plan.decoded = source.layout().coded;
  if (problem.codecs.encodes) plan.encoded = sink.layout().coded;
  plan.max_source_extent = cut.max_source_extent;
  plan.bytes_read = cut.bytes_read;
  plan.bytes_written = plan.sink().bytes();
  plan.seconds = secondary_reads(problem, plan, cut);
  plan.kernel_stores_rows = cut.kernel_stores_rows;
  plan.operations = cut.operations;
  const double ideal = whole_operations(problem);
  plan.recomputed = std::max(0.0, cut.operations - ideal);
  plan.streams = source.layout().streams && sink.layout().streams;
  plan.warnings = source.layout().warnings;
  plan.warnings.insert(plan.warnings.end(), sink.layout().warnings.begin(), sink.layout().warnings.end());
  std::ranges::move(secondary_warnings(problem), std::back_inserter(plan.warnings));
  if (plan.uses_cpu())
    if (std::string warning = short_memory_warning(problem, options, threads, cut, ceilings);
        !warning.empty())
      plan.warnings.push_back(std::move(warning));
  plan.source_layout = source.layout().description;
  plan.sink_layout = sink.layout().description;
  plan.stored_bytes = source.stored_bytes();
  plan.changed_ns = source.changed_ns();
  plan.notes = explain(problem, plan, asked, threads_of(asked));
  if (!plan.why_not_shared.empty())
    plan.notes.push_back("the CPU computes no bands, because " + plan.why_not_shared);
  std::ranges::move(secondary_notes(problem, plan), std::back_inserter(plan.notes));
  std::ranges::move(missing_pixel_notes(plan.missing, nodata_chain), std::back_inserter(plan.notes));
  for (const Clipping& clipping : find_clippings(source, sink, chain, plan.specs, plan.arithmetic))
    if (std::string note = clipping.note(); !note.empty()) plan.notes.push_back(std::move(note));
  plan.predicted = predict(problem, plan, cut);
  return plan;
}

}  // namespace

ImageSpec region_spec(const ImageSpec& result, const Rect& region) {
  return {region_of(result.extent, region).extent(), result.channels, result.type};
}

Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const MissingPixels& missing,
          const PlanOptions& options) {
  check_options(options);
  return choose_plan(options, [&](const PlanOptions& resolved) {
    return make_plan(source, sink, chain, missing, options, resolved);
  });
}

Plan plan_cut(const Reader& source, const Writer& sink, const Chain& chain, const MissingPixels& missing,
              const PlanOptions& asked, const PlanOptions& cut) {
  check_options(cut);
  return choose_plan(cut, [&](const PlanOptions& resolved) {
    return make_plan(source, sink, chain, missing, asked, resolved);
  });
}

}  // namespace sepconv
