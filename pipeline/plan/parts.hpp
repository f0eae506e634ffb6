// Parts of a result: groups of bands that share no block or shard of the sink, so that independent processes
// can write them.
#pragma once

#include <vector>

#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// Splits all bands of `rasters` images, numbered through all of them, into `count` parts of similar numbers
/// of pixels, in order. Throws InvalidArgument with the maximum number of parts if `count` is not possible.
std::vector<BandRange> parts(const Plan& plan, const SinkLayout& sink, std::int64_t count,
                             std::int64_t rasters = 1);
/// Maximum number of parts.
std::int64_t max_parts(const Plan& plan, const SinkLayout& sink, std::int64_t rasters = 1);
/// The bands of one raster within a part, numbered within the raster; may be empty.
BandRange bands_in(const BandRange& part, std::int64_t raster, const Plan& plan);

/// Cost of a result in parts compared with a single run.
struct PartsCost {
  std::int64_t bytes_reread = 0;   ///< source pixels in halos that another part reads too
  std::int64_t source_blocks = 0;  ///< blocks read by all parts, counted per read
  std::int64_t sink_objects = 0;   ///< blocks or shards of the full image written
  std::int64_t bytes_saved = 0;    ///< rows of smaller levels in blocks of several parts, saved for the
                                   ///< finishing process
};
PartsCost cost_of(const Plan& plan, const std::vector<BandRange>& parts, const SourceLayout& source,
                  const SinkLayout& sink);

}  // namespace sepconv
