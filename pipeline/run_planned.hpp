// From a plan to a finished sink, whatever is planned: a chain or a product. Internal to the pipeline.
#pragma once

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/run.hpp"

namespace sepconv {

/// A plan that was carried out.
template <class Plan>
struct Ran {
  Plan plan;
  double startup_seconds = 0;
};

/// Carries out what make_plan(options) plans. prepare(plan) returns a pointer to what does, and has taken its memory; while that throws OutOfMemory, and so nothing
/// has been read or written, a plan for smaller_than(plan, options) takes the plan's place. Finishes the sink.
template <class MakePlan, class Prepare, class SmallerThan>
auto run_planned(Writer& sink, const RunOptions& options, Timeline& timeline, const MakePlan& make_plan, const Prepare& prepare,
                 const SmallerThan& smaller_than) {
  auto plan = make_plan(options);
  decltype(prepare(plan)) runner;
  for (PlanOptions smaller = options; runner == nullptr;) {
    try {
      runner = prepare(plan);
    } catch (const OutOfMemory& error) {
      if (options.logger) options.logger->info(fmt::format("{}; trying a smaller plan", error.what()));
      smaller = smaller_than(plan, smaller);
      plan = make_plan(smaller);
    }
  }
  if (const int threads = runner->threads(); threads < plan.threads) {
    plan.warnings.push_back(fmt::format("{} threads instead of {}: the limit on processes (ulimit -u) or on memory (ulimit -v) gives no more", threads, plan.threads));
    if (options.logger) options.logger->info(plan.warnings.back());
    plan.threads = threads;
  }
  const double startup_seconds = timeline.now();
  runner->execute(timeline);
  runner.reset();
  const double begin = timeline.now();
  sink.prepare_finish();
  if (options.stop.stop_requested()) throw Cancelled();
  sink.finish();
  timeline.record({"write", plan.band_count(), begin, timeline.now(), 0});
  return Ran<decltype(plan)>{std::move(plan), startup_seconds};
}

}  // namespace sepconv
