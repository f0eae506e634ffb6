// One raster of a run, and the report of all. Internal to the pipeline.
#pragma once

#include "pipeline/run/run_with_retry.hpp"

namespace sepconv {

/// As run(), with a timeline that may have other rasters before; finishes the sink.
ExecutedPlan<Plan> run_one(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options,
                           Timeline& timeline);

/// For this many rasters that were run by this plan, the last from this source to this sink, less pixels that
/// runs before made.
RunReport make_report(const Plan& plan, const Reader& source, const Writer& sink, BandRange bands,
                      const Timeline& timeline, double startup_seconds, std::int64_t bytes_stored,
                      std::int64_t rasters, std::int64_t pixels_before = 0);

}  // namespace sepconv
