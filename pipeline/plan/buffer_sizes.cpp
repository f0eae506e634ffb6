#include "pipeline/plan/buffer_sizes.hpp"

#include <algorithm>

#include "pipeline/chain/chain_tile.hpp"
#include "pipeline/plan/band_rows.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxPlaces = 1 << 14;  // visited one by one, in some milliseconds
constexpr std::int64_t kMaxParts = 1 << 18;   // per side; only images of 2^31 rows have more

/// An interval of one side of the result.
struct Part {
  std::int64_t begin, size;
};

/// The parts of one side, beginning at `first`: tiles of its bands. If there are more than kMaxParts, about
/// kMaxParts evenly spaced ones and the last.
std::vector<Part> parts_of(std::int64_t first, const BandTiling& cut, std::int64_t tile) {
  const std::int64_t per_band = ceil_div(cut.band, tile);
  const std::int64_t count = cut.count() * per_band;
  std::vector<Part> parts;
  const auto add = [&](std::int64_t index) {
    const std::int64_t band = index / per_band;
    const std::int64_t begin = cut.begin(band) + index % per_band * tile;
    const std::int64_t end = cut.begin(band) + cut.size(band);
    if (begin < end) parts.push_back({first + begin, std::min(tile, end - begin)});
  };
  for (std::int64_t index = 0; index < count; index += ceil_div(count, kMaxParts)) add(index);
  const std::int64_t last = cut.count() - 1;
  add(last * per_band + (cut.size(last) - 1) / tile);
  return parts;
}

/// The first, the middle and the last.
std::vector<Part> few_of(const std::vector<Part>& parts) {
  return {parts.front(), parts[parts.size() / 2], parts.back()};
}

template <class Visit>
void visit_each(const std::vector<Part>& rows, const std::vector<Part>& cols, const Visit& visit) {
  for (const Part& row : rows) {
    for (const Part& col : cols) visit(Rect{row.begin, col.begin, row.size, col.size});
  }
}

/// Visits all tiles; if there are too many, all rows of tiles and all columns of tiles instead. The rows that
/// a stage needs depend only on the rows of its result, and the columns on its columns, or crosswise for a
/// transpose.
template <class Visit>
void visit_places(const PlanProblem& problem, Extent band, Extent tile, const Visit& visit) {
  const Rect& region = problem.region;
  const auto rows = parts_of(region.row, {region.rows, problem.item.rows, band.rows}, tile.rows);
  const auto cols = parts_of(region.col, {region.cols, problem.item.cols, band.cols}, tile.cols);
  if (std::ssize(rows) * std::ssize(cols) <= kMaxPlaces) return visit_each(rows, cols, visit);
  visit_each(rows, few_of(cols), visit);
  visit_each(few_of(rows), cols, visit);
}

/// Visits the bands of `places`, and the middle band, whose halo is not clipped.
template <class Visit>
void visit_bands(const PlanProblem& problem, Extent band, Places places, const Visit& visit) {
  visit(problem.middle(band));
  if (places == Places::all) return visit_places(problem, band, band, visit);
  const Rect& region = problem.region;
  const BandTiling rows{region.rows, problem.item.rows, band.rows};
  const BandTiling cols{region.cols, problem.item.cols, band.cols};
  for (const std::int64_t row : {std::int64_t{0}, rows.count() - 1}) {
    for (const std::int64_t col : {std::int64_t{0}, cols.count() - 1})
      visit(Rect{region.row + rows.begin(row), region.col + cols.begin(col), rows.size(row), cols.size(col)});
  }
}

/// Maximum extent of an image, at the input of stage `over`, that a band needs, with halo and rounded up to
/// whole blocks.
Extent max_source_extent(const PlanProblem& problem, Extent cut_band, Places places,
                         const SourceLayout& layout, std::size_t over) {
  // Assumes that bands may begin anywhere in a block; the actual bands may round up to less.
  const Rect middle = needed_rects(problem.chain, problem.specs, problem.middle(cut_band))[over];
  const std::int64_t rows = std::min(middle.rows + PlanProblem::read_unit_rows(layout) - 1,
                                     std::max(problem.specs[over].extent.rows, middle.rows));
  Extent most{rows, middle.cols};  // maximum per side, because not all positions are visited
  visit_bands(problem, cut_band, places, [&](const Rect& band) {
    const Rect held = resident_rect(problem.chain, problem.specs, layout, band, over);
    most = {std::max(most.rows, held.rows), std::max(most.cols, held.cols)};
  });
  return most;
}

/// Sets the bytes of a slot: source, second images and result.
void set_slots(const PlanProblem& problem, Tiling& cut, Places places) {
  cut.max_source_extent = max_source_extent(problem, cut.band, places, problem.source.layout(), 0);
  cut.slot_input_bytes = cut.max_source_extent.area() * problem.specs.front().pixel_bytes();
  cut.slot_output_bytes = cut.band.area() * problem.specs.back().pixel_bytes();
  cut.slot_secondary_bytes.clear();
  for (const auto& [stage, reader] : problem.seconds)
    cut.slot_secondary_bytes.push_back(
        max_source_extent(problem, cut.band, places, reader->layout(), stage).area() *
        reader->spec().pixel_bytes());
}

/// Scratch bytes of one thread.
std::int64_t arena_bytes(const PlanProblem& problem, const Tiling& cut, Places places) {
  std::vector<Extent> needed;
  include_needed(problem.chain, problem.specs, middle_rect(problem.specs.back().extent, cut.tile), needed);
  if (places == Places::all) {
    visit_places(problem, cut.band, cut.tile,
                 [&](const Rect& tile) { include_needed(problem.chain, problem.specs, tile, needed); });
  }
  return tile_scratch_bytes(problem.chain, problem.specs, needed, problem.arithmetic);
}

/// Scratch bytes of a GPU, which computes a whole band at a time.
std::int64_t device_arena_bytes(const PlanProblem& problem, const Tiling& cut, Places places) {
  std::vector<Extent> needed;
  include_needed(problem.chain, problem.specs, middle_rect(problem.specs.back().extent, cut.band), needed);
  visit_bands(problem, cut.band, places,
              [&](const Rect& band) { include_needed(problem.chain, problem.specs, band, needed); });
  return chain_device_bytes(problem.chain, problem.specs, needed, problem.arithmetic);
}

}  // namespace

void set_sizes(const PlanProblem& problem, Tiling& cut, Places places) {
  set_slots(problem, cut, places);
  cut.memory = {.source = problem.source.buffer_bytes(cut.threads) + problem.buffered_bytes,
                .sink = problem.sink.buffer_bytes(cut.threads),
                .resident = problem.chain.resident_bytes()};
  std::int64_t seconds = 0;
  for (const std::int64_t bytes : cut.slot_secondary_bytes) seconds += bytes;
  for (const SecondaryInput& second : problem.seconds)
    cut.memory.source += std::max(problem.devices, 1) * second.reader->buffer_bytes(cut.threads);
  if (problem.devices == 0) {
    cut.arena_bytes = arena_bytes(problem, cut, places);
    cut.memory.slots = cut.slots * (cut.slot_input_bytes + seconds + cut.slot_output_bytes);
    cut.memory.scratch = cut.threads * cut.arena_bytes;
    return;
  }
  std::int64_t host_input = problem.source.is_page_locked() ? 0 : cut.slot_input_bytes;
  std::int64_t host_output = problem.sink.is_page_locked() ? 0 : cut.slot_output_bytes;
  std::int64_t codecs = 0, mended = 0;
  if (problem.codecs.decodes) {
    const EncodedTiles& tiles = *problem.source.layout().coded;
    const DecodingSizes sizes(tiles, problem.specs.front(), cut.max_source_extent, cut.threads);
    host_input = sizes.host_bytes();
    codecs += cut.slots * sizes.device_bytes();
    mended = sizes.redecoded_bytes();
  }
  if (problem.codecs.encodes) {
    const EncodingSizes sizes(*problem.sink.layout().coded, cut.band);
    host_output = sizes.slot_bytes();
    codecs += cut.slots * sizes.slot_bytes() + sizes.scratch_bytes;
  }
  cut.memory.slots = problem.devices * (cut.slots * (host_input + seconds + host_output) + mended);
  cut.memory.scratch = problem.devices * found_nan_bytes(problem.specs.front());
  cut.device_memory = {.slots = device_inputs(cut.slots) * (cut.slot_input_bytes + seconds) +
                                cut.slots * cut.slot_output_bytes,
                       .scratch = device_arena_bytes(problem, cut, places),
                       .codecs = codecs,
                       .resident = problem.chain.resident_bytes()};
}

}  // namespace sepconv
