#include "sepconv/pipeline/plan/parts.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/plan/band_rows.hpp"

namespace sepconv {
namespace {

/// In blocks of a grid, all that `rect` touches.
Rect touched(const Rect& rect, Extent block) {
  const std::int64_t row = rect.row / block.rows, col = rect.col / block.cols;
  return {row, col, ceil_div(rect.row_end(), block.rows) - row, ceil_div(rect.col_end(), block.cols) - col};
}

/// Bands before which a part may begin, and the end of all.
std::vector<std::int64_t> cuts_of(const Plan& plan, const SinkLayout& sink) {
  const std::int64_t count = plan.band_count();
  std::vector<std::int64_t> spanned(static_cast<std::size_t>(count) +
                                    1);                                 // how many more span it than the last
  std::map<std::pair<std::int64_t, std::int64_t>, BandRange> bands_of;  // of a shard, by its place
  for (std::int64_t band = 0; band < count && !sink.shard.empty(); ++band) {
    const Rect shards = touched(plan.sink_rect(band), sink.shard);
    for (std::int64_t i = 0; i < shards.area(); ++i) {
      const auto [found, is_new] = bands_of.try_emplace(
          {shards.row + i / shards.cols, shards.col + i % shards.cols}, BandRange{band, band});
      found->second.end = band;
    }
  }
  for (const auto& [place, bands] : bands_of) {
    ++spanned[static_cast<std::size_t>(bands.first) + 1];
    --spanned[static_cast<std::size_t>(bands.end) + 1];
  }
  std::vector<std::int64_t> cuts;
  std::int64_t open = 0;
  for (std::int64_t band = 0; band <= count; ++band) {
    open += spanned[static_cast<std::size_t>(band)];
    if (open == 0) cuts.push_back(band);
  }
  return cuts;
}

bool is_cut_anywhere(Extent block) { return block == Extent{1, 1}; }

}  // namespace

std::vector<BandRange> parts(const Plan& plan, const SinkLayout& sink, std::int64_t count) {
  const std::vector<std::int64_t> cuts = cuts_of(plan, sink);
  const std::int64_t groups = std::ssize(cuts) - 1;
  if (count < 1 || count > groups)
    throw InvalidArgument(
        fmt::format("the result cannot be made in {} parts, but in 1 to {}: its bands are of {} x {} "
                    "pixels{}; take lower "
                    "ones (PlanOptions::band_rows) or fewer parts",
                    count, groups, plan.band.cols, plan.band.rows,
                    sink.shard.empty() ? ""
                                       : fmt::format(", and no two parts may write to one shard of {} x {}",
                                                     sink.shard.cols, sink.shard.rows)));
  std::vector<BandRange> all;
  const auto cut = [&](std::int64_t part) { return cuts[static_cast<std::size_t>(groups * part / count)]; };
  for (std::int64_t part = 0; part < count; ++part) all.push_back({cut(part), cut(part + 1)});
  return all;
}

PartsCost cost_of(const Plan& plan, const std::vector<BandRange>& parts, const SourceLayout& source,
                  const SinkLayout& sink) {
  PartsCost cost;
  for (const BandRange& part : parts) {
    for (std::int64_t band = part.first; band < part.end; ++band) {
      const Rect missing = band_rows(plan, source, band, band > part.first).missing;
      if (!missing.empty())
        cost.source_blocks += is_cut_anywhere(source.block) ? 1 : touched(missing, source.block).area();
    }
    if (part.first > 0)
      cost.bytes_read_again +=
          band_rows(plan, source, part.first, true).shared.area() * plan.source().pixel_bytes();
  }
  const Extent object = sink.shard.empty() ? sink.block : sink.shard;
  cost.sink_objects =
      is_cut_anywhere(object) ? plan.band_count() : touched(Rect::whole(plan.region.extent()), object).area();
  return cost;
}

}  // namespace sepconv
