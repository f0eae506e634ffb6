// Parts of a result: groups of bands that touch no common block or shard of the sink, so that processes that
// know nothing of each other write one each.
#pragma once

#include <vector>

#include "sepconv/pipeline/plan/plan.hpp"

namespace sepconv {

/// All bands in `count` parts of about as many pixels, in their order. Throws InvalidArgument, which names
/// how many there can be at most, if there cannot be so many.
std::vector<BandRange> parts(const Plan& plan, const SinkLayout& sink, std::int64_t count);

/// What it costs to make a result in these parts beside making it at once.
struct PartsCost {
  std::int64_t bytes_read_again = 0;  ///< of source pixels: halos that a part has in common with another
  std::int64_t source_blocks = 0;     ///< that all parts read together, counted as often as they are read
  std::int64_t sink_objects = 0;      ///< blocks or shards that are written
};
PartsCost cost_of(const Plan& plan, const std::vector<BandRange>& parts, const SourceLayout& source,
                  const SinkLayout& sink);

}  // namespace sepconv
