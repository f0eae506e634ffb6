// Executes a plan of a chain or a product, with smaller plans if memory is short. Internal to the pipeline.
#pragma once

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <string>
#include <utility>
#include <vector>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/run/finish_raster.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// The plan that was executed, its startup time and what its devices did.
template <class Plan>
struct ExecutedPlan {
  Plan plan;
  double startup_seconds = 0;
  std::vector<LaneReport> lanes = {};
};

/// Executes a plan. prepare(plan) allocates memory and returns a pointer to the runner. While it throws
/// OutOfMemory (before anything is read or written), the plan is replaced by smaller(plan), if
/// options.retry_smaller_plans is set and options.bands is not. Finishes the sink if all bands were run.
template <class Plan, class Prepare, class Smaller>
ExecutedPlan<Plan> run_planned(Plan plan, Writer& sink, const ExecutionOptions& options, Timeline& timeline,
                               const Prepare& prepare, const Smaller& smaller) {
  decltype(prepare(plan)) runner;
  while (runner == nullptr) {
    try {
      runner = prepare(plan);
    } catch (const OutOfMemory& error) {
      if (!options.retry_smaller_plans || options.bands) throw;
      if (options.logger) options.logger->info(fmt::format("{}; trying a smaller plan", error.what()));
      plan = smaller(plan);
    }
  }
  if (const int threads = runner->threads(); threads < plan.threads) {
    plan.warnings.push_back(fmt::format(
        "{} instead of {}: the limit on processes (ulimit -u) or on memory (ulimit -v) allows no more",
        count_text(threads, "thread"), plan.threads));
    if (options.logger) options.logger->info(plan.warnings.back());
    plan.threads = threads;
  }
  const double startup_seconds = timeline.now();
  runner->execute(timeline);
  const std::vector<LaneReport> lanes = runner->lanes();
  for (const std::string& warning : runner->warnings()) {
    plan.warnings.push_back(warning);
    if (options.logger) options.logger->info(warning);
  }
  runner.reset();
  const bool is_all = !options.bands || options.bands->count() == plan.band_count();
  if (!is_all || !options.finishes) return {std::move(plan), startup_seconds, lanes};
  const double begin = timeline.now();
  finish_raster(sink, options.stop, [&options] {
    if (options.finishing) options.finishing();
  });
  timeline.record({"write", Span::kClosing, begin, timeline.now(), 0});
  timeline.sample_memory();
  return {std::move(plan), startup_seconds, lanes};
}

}  // namespace sepconv
