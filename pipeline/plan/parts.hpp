// Parts of a result: groups of bands that touch no common block or shard of the sink, so that processes that
// know nothing of each other write one each.
#pragma once

#include <vector>

#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// All bands of `rasters` images with this plan, counted through all of them, in `count` parts of about as
/// many pixels, in their order. Throws InvalidArgument, which names how many there can be at most, if there
/// cannot be this many.
std::vector<BandRange> parts(const Plan& plan, const SinkLayout& sink, std::int64_t count,
                             std::int64_t rasters = 1);
/// How many there can be.
std::int64_t max_parts(const Plan& plan, const SinkLayout& sink, std::int64_t rasters = 1);
/// The bands of one raster in such a range, counted in it; empty where there are none.
BandRange bands_in(const BandRange& part, std::int64_t raster, const Plan& plan);

/// What it costs to make a result in these parts compared with making it at once.
struct PartsCost {
  std::int64_t bytes_read_again = 0;  ///< of source pixels: halos that a part has in common with another
  std::int64_t source_blocks = 0;     ///< that all parts read together, counted as often as they are read
  std::int64_t sink_objects = 0;      ///< blocks or shards of the full image that are written
  std::int64_t bytes_kept = 0;        ///< of smaller levels, in blocks of several parts, which finish writes
};
PartsCost cost_of(const Plan& plan, const std::vector<BandRange>& parts, const SourceLayout& source,
                  const SinkLayout& sink);

}  // namespace sepconv
