// From a plan to a finished sink, whatever is planned: a chain or a product. Internal to the pipeline.
#pragma once

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// A plan that was carried out.
template <class Plan>
struct ExecutedPlan {
  Plan plan;
  double startup_seconds = 0;
};

/// Carries out a plan. prepare(plan) returns a pointer to what does, and has taken its memory; while that
/// throws OutOfMemory, and so nothing has been read or written, smaller(plan) takes the plan's place if the
/// options allow it and do not name bands of this one. Finishes the sink when all of it was made.
template <class Plan, class Prepare, class Smaller>
ExecutedPlan<Plan> run_planned(Plan plan, Writer& sink, const ExecutionOptions& options, Timeline& timeline,
                               const Prepare& prepare, const Smaller& smaller) {
  decltype(prepare(plan)) runner;
  while (runner == nullptr) {
    try {
      runner = prepare(plan);
    } catch (const OutOfMemory& error) {
      if (!options.smaller_plans || options.bands) throw;
      if (options.logger) options.logger->info(fmt::format("{}; trying a smaller plan", error.what()));
      plan = smaller(plan);
    }
  }
  if (const int threads = runner->threads(); threads < plan.threads) {
    plan.warnings.push_back(fmt::format(
        "{} instead of {}: the limit on processes (ulimit -u) or on memory (ulimit -v) gives no more",
        count_text(threads, "thread"), plan.threads));
    if (options.logger) options.logger->info(plan.warnings.back());
    plan.threads = threads;
  }
  const double startup_seconds = timeline.now();
  runner->execute(timeline);
  runner.reset();
  const bool is_all = !options.bands || options.bands->count() == plan.band_count();
  if (!is_all || !options.finishes) return {std::move(plan), startup_seconds};
  const double begin = timeline.now();
  sink.prepare_finish();
  if (options.stop.stop_requested()) throw Cancelled();
  if (options.finishing) options.finishing();
  sink.finish();
  timeline.record({"write", Span::kClosing, begin, timeline.now(), 0});
  timeline.note_memory();
  return {std::move(plan), startup_seconds};
}

}  // namespace sepconv
