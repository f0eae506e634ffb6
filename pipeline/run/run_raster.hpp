// Runs one raster, and reports on all rasters. Internal to the pipeline.
#pragma once

#include "pipeline/run/run_with_retry.hpp"

namespace sepconv {

/// As run(), with a timeline that may contain earlier rasters; finishes the sink.
ExecutedPlan<Plan> run_raster(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options,
                              Timeline& timeline);

/// The plan for this source and sink, on the same devices, with the limits of `options`.
Plan plan_again(const Plan& plan, const Reader& source, const Writer& sink, PlanOptions options);

/// The report on `rasters` rasters run with this plan; source and sink are the last ones. `pixels`: of the
/// result, computed by this run.
RunReport make_report(const Plan& plan, const Reader& source, const Writer& sink, BandRange bands,
                      const Timeline& timeline, double startup_seconds, std::int64_t bytes_stored,
                      std::int64_t rasters, std::int64_t pixels);

}  // namespace sepconv
