#include "pipeline/plan/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/plan/band_rows.hpp"

namespace sepconv {
namespace {

/// The blocks of a grid that `rect` touches, in block coordinates.
Rect touched_blocks(const Rect& rect, Extent block) {
  const std::int64_t row = rect.row / block.rows, col = rect.col / block.cols;
  return {row, col, ceil_div(rect.row_end(), block.rows) - row, ceil_div(rect.col_end(), block.cols) - col};
}

/// Parts begin at multiples of this: rows that are whole rows in all smaller levels.
std::int64_t part_rows(const SinkLayout& sink) { return std::int64_t{1} << sink.levels.size(); }

/// Bands at which a part may begin, and the band count.
std::vector<std::int64_t> cuts_of(const Plan& plan, const SinkLayout& sink) {
  const std::int64_t count = plan.band_count();
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> last_band;  // by shard position
  const auto for_each_shard = [&](std::int64_t band, const auto& visit) {
    if (sink.shard.empty()) return;
    const Rect shards = touched_blocks(plan.sink_rect(band), sink.shard);
    for (std::int64_t i = 0; i < shards.area(); ++i)
      visit(last_band[{shards.row + i / shards.cols, shards.col + i % shards.cols}]);
  };
  for (std::int64_t band = 0; band < count; ++band)
    for_each_shard(band, [band](std::int64_t& last) { last = band; });
  std::vector<std::int64_t> cuts;
  std::int64_t open_until = -1;  // the last band of the shards of previous bands
  for (std::int64_t band = 0; band < count; ++band) {
    if (band > open_until && plan.sink_rect(band).row % part_rows(sink) == 0) cuts.push_back(band);
    for_each_shard(band, [&](std::int64_t last) { open_until = std::max(open_until, last); });
  }
  cuts.push_back(count);
  return cuts;
}

bool is_cut_anywhere(Extent block) { return block == Extent{1, 1}; }

std::string limits_text(const Plan& plan, const SinkLayout& sink) {
  std::string text = "its bands are of " + band_text(plan);
  if (!sink.shard.empty())
    text +=
        fmt::format(", and no two parts may write to one shard of {} x {}", sink.shard.cols, sink.shard.rows);
  if (!sink.levels.empty())
    text +=
        fmt::format(", and with its smaller levels a part begins at a multiple of {} rows", part_rows(sink));
  return text;
}

/// Bytes of smaller levels saved by a part for the finishing process; `bands` of one raster are whole rows.
std::int64_t saved_level_bytes(const Plan& plan, const SinkLayout& sink, const BandRange& bands) {
  const std::int64_t first = plan.sink_rect(bands.first).row, end = plan.sink_rect(bands.end - 1).row_end();
  std::int64_t bytes = 0;
  for (const OverviewRows& level : sink.levels)
    bytes += level.of_part(first, end, plan.region.rows).kept() * level.row_bytes;
  return bytes;
}

}  // namespace

std::vector<BandRange> parts(const Plan& plan, const SinkLayout& sink, std::int64_t count,
                             std::int64_t rasters) {
  const std::vector<std::int64_t> cuts = cuts_of(plan, sink);
  const std::int64_t groups = std::ssize(cuts) - 1;
  if (count < 1 || count > groups * rasters)
    throw InvalidArgument(fmt::format(
        "the result cannot be made in {}, but in {}: {}; make fewer parts, or begin it with lower bands "
        "(PlanOptions::band_rows)",
        count_text(count, "part"), groups * rasters > 1 ? fmt::format("1 to {}", groups * rasters) : "one",
        limits_text(plan, sink)));
  const auto cut = [&](std::int64_t part) {
    const std::int64_t group = groups * rasters * part / count;
    return group / groups * plan.band_count() + cuts[static_cast<std::size_t>(group % groups)];
  };
  std::vector<BandRange> all;
  for (std::int64_t part = 0; part < count; ++part) all.push_back({cut(part), cut(part + 1)});
  return all;
}

std::int64_t max_parts(const Plan& plan, const SinkLayout& sink, std::int64_t rasters) {
  return rasters * (std::ssize(cuts_of(plan, sink)) - 1);
}

BandRange bands_in(const BandRange& part, std::int64_t raster, const Plan& plan) {
  const std::int64_t count = plan.band_count(), before = raster * count;
  const std::int64_t first = std::clamp(part.first - before, std::int64_t{0}, count);
  return {first, std::max(first, std::min(part.end - before, count))};
}

PartsCost cost_of(const Plan& plan, const std::vector<BandRange>& parts, const SourceLayout& source,
                  const SinkLayout& sink) {
  PartsCost cost;
  const std::int64_t count = plan.band_count();
  const auto has_before = [&](std::int64_t band) { return band % count > 0; };  // within its raster
  for (const BandRange& part : parts) {
    for (std::int64_t band = part.first; band < part.end; ++band) {
      const Rect missing =
          band_rows(plan, source, band % count, band > part.first && has_before(band)).missing;
      if (!missing.empty())
        cost.source_blocks +=
            is_cut_anywhere(source.block) ? 1 : touched_blocks(missing, source.block).area();
    }
    const std::int64_t end = (part.end - 1) / count;
    for (std::int64_t raster = part.first / count; raster <= end && !sink.levels.empty(); ++raster)
      cost.bytes_saved += saved_level_bytes(plan, sink, bands_in(part, raster, plan));
    if (has_before(part.first))
      cost.bytes_reread +=
          band_rows(plan, source, part.first % count, true).shared.area() * plan.source().pixel_bytes();
  }
  const Extent object = sink.shard.empty() ? sink.block : sink.shard;
  const std::int64_t rasters = parts.back().end / count;
  cost.sink_objects =
      rasters *
      (is_cut_anywhere(object) ? count : touched_blocks(Rect::whole(plan.region.extent()), object).area());
  return cost;
}

}  // namespace sepconv
