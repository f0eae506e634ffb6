#include "pipeline/plan/band_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "pipeline/chain/graph_tile.hpp"

namespace sepconv {

std::int64_t Plan::band_count() const noexcept { return row_cut().count() * col_cut().count(); }

BandTiling Plan::row_cut() const noexcept { return {region.rows, item.rows, band.rows}; }
BandTiling Plan::col_cut() const noexcept { return {region.cols, item.cols, band.cols}; }

Rect Plan::sink_rect(std::int64_t index) const noexcept {
  const BandTiling rows = row_cut();
  const BandTiling cols = col_cut();
  const std::int64_t row = turned ? index / cols.count() : index % rows.count();
  const std::int64_t col = turned ? index % cols.count() : index / rows.count();
  return {rows.begin(row), cols.begin(col), rows.size(row), cols.size(col)};
}

Rect Plan::band_rect(std::int64_t index) const noexcept {
  const Rect rect = sink_rect(index);
  return {region.row + rect.row, region.col + rect.col, rect.rows, rect.cols};
}

namespace {

/// Pixels of all bands before `index`. Bands run along `along` within each of `across`.
std::int64_t pixels_before(std::int64_t index, const BandTiling& across, const BandTiling& along) {
  const std::int64_t column = index / along.count();
  if (column == across.count()) return across.length * along.length;
  return across.begin(column) * along.length + across.size(column) * along.begin(index % along.count());
}

}  // namespace

std::int64_t Plan::pixels_of(BandRange bands) const noexcept {
  const BandTiling across = turned ? row_cut() : col_cut();
  const BandTiling along = turned ? col_cut() : row_cut();
  return pixels_before(bands.end, across, along) - pixels_before(bands.first, across, along);
}

Rect resident_rect(const Graph& graph, const SourceLayout& layout, const Rect& band,
                   std::size_t stage_index) {
  const std::size_t value = graph.stage_input(stage_index);
  Rect needed = graph.needed_rects(band)[value];
  const std::int64_t rows = graph.specs()[value].extent.rows;
  if (layout.streams && layout.access == Access::random && needed.row_end() > 0 && needed.row_end() <= rows)
    needed.rows = std::min(round_up(needed.row_end(), layout.unit().rows), rows) - needed.row;
  return needed;
}

BandRows band_rows(const Plan& plan, const SourceLayout& layout, std::int64_t band, bool follows,
                   std::size_t stage_index) {
  const auto resident_of = [&](std::int64_t index) {
    return resident_rect(plan.graph, layout, plan.band_rect(index), stage_index);
  };
  const Rect resident = resident_of(band);
  BandRows rows{resident, {resident.row, resident.col, 0, resident.cols}, resident};
  if (!follows) return rows;
  const Rect previous = resident_of(band - 1);
  const Rect shared = resident.intersect(previous);
  // The first band of the next column of bands has other columns.
  if (previous.col != resident.col || previous.cols != resident.cols || shared.row != resident.row ||
      shared.empty())
    return rows;
  rows.shared = shared;
  rows.missing = {shared.row_end(), resident.col, resident.rows - shared.rows, resident.cols};
  return rows;
}

PixelView slot_view(const Buffer& slot, const ImageSpec& image, const Rect& part) {
  const std::int64_t bytes = part.area() * image.pixel_bytes();
  if (bytes > slot.size()) {
    throw std::logic_error(fmt::format(
        "{} take {} bytes but the plan's slots have {}: a stage's input_for() says more than when the plan "
        "was made",
        to_string(part), bytes, slot.size()));
  }
  return dense_view(slot.data(), image, part.extent());
}

}  // namespace sepconv
