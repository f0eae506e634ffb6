#include "pipeline/plan/buffer_sizes.hpp"

#include <algorithm>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/plan/band_rows.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxPositions = 1 << 14;  // visited one by one, in some milliseconds
constexpr std::int64_t kMaxParts = 1 << 18;      // per side; only images of 2^31 rows have more

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

/// The first, the middle and the last part.
std::vector<Part> first_middle_last(const std::vector<Part>& parts) {
  return {parts.front(), parts[parts.size() / 2], parts.back()};
}

template <class Visit>
void visit_grid(const std::vector<Part>& rows, const std::vector<Part>& cols, const Visit& visit) {
  for (const Part& row : rows) {
    for (const Part& col : cols) visit(Rect{row.begin, col.begin, row.size, col.size});
  }
}

/// Visits all tiles; if there are too many, all rows of tiles and all columns of tiles instead. The rows that
/// a stage needs depend only on the rows of its result, and the columns on its columns, or crosswise for a
/// transpose.
template <class Visit>
void visit_positions(const PlanProblem& problem, Extent band, Extent tile, const Visit& visit) {
  const Rect& region = problem.region;
  const auto rows = parts_of(region.row, {region.rows, problem.item.rows, band.rows}, tile.rows);
  const auto cols = parts_of(region.col, {region.cols, problem.item.cols, band.cols}, tile.cols);
  if (std::ssize(rows) * std::ssize(cols) <= kMaxPositions) return visit_grid(rows, cols, visit);
  visit_grid(rows, first_middle_last(cols), visit);
  visit_grid(first_middle_last(rows), cols, visit);
}

/// Visits the bands of `sampling`, and the middle band, whose halo is not clipped.
template <class Visit>
void visit_bands(const PlanProblem& problem, Extent band, Sampling sampling, const Visit& visit) {
  visit(problem.middle(band));
  if (sampling == Sampling::all) return visit_positions(problem, band, band, visit);
  const Rect& region = problem.region;
  const BandTiling rows{region.rows, problem.item.rows, band.rows};
  const BandTiling cols{region.cols, problem.item.cols, band.cols};
  for (const std::int64_t row : {std::int64_t{0}, rows.count() - 1}) {
    for (const std::int64_t col : {std::int64_t{0}, cols.count() - 1})
      visit(Rect{region.row + rows.begin(row), region.col + cols.begin(col), rows.size(row), cols.size(col)});
  }
}

/// Maximum extent that a band needs of the image at the input of stage `stage_index`, with halo and rounded
/// up to whole blocks.
Extent max_source_extent(const PlanProblem& problem, Extent cut_band, Sampling sampling,
                         const SourceLayout& layout, std::size_t stage_index) {
  // Assumes that bands may begin anywhere in a block; the actual bands may round up to less.
  const Rect middle =
      problem.graph.needed_rects(problem.middle(cut_band))[problem.graph.stage_input(stage_index)];
  const std::int64_t rows = std::min(middle.rows + PlanProblem::read_unit_rows(layout) - 1,
                                     std::max(problem.specs[stage_index].extent.rows, middle.rows));
  Extent max_extent{rows, middle.cols};  // maximum per side, because not all positions are visited
  visit_bands(problem, cut_band, sampling, [&](const Rect& band) {
    const Rect resident = resident_rect(problem.graph, layout, band, stage_index);
    max_extent = {std::max(max_extent.rows, resident.rows), std::max(max_extent.cols, resident.cols)};
  });
  return max_extent;
}

/// Sets the bytes of a slot: source, second images and result.
void set_slots(const PlanProblem& problem, Tiling& cut, Sampling sampling) {
  cut.max_source_extent = max_source_extent(problem, cut.band, sampling, problem.source.layout(), 0);
  cut.slot_input_bytes = cut.max_source_extent.area() * problem.specs.front().pixel_bytes();
  cut.slot_output_bytes = cut.band.area() * problem.specs.back().pixel_bytes();
  cut.slot_secondary_bytes.clear();
  for (const auto& [stage, reader] : problem.seconds)
    cut.slot_secondary_bytes.push_back(
        max_source_extent(problem, cut.band, sampling, reader->layout(), stage).area() *
        reader->spec().pixel_bytes());
}

/// Scratch bytes of one thread.
std::int64_t arena_bytes(const PlanProblem& problem, const Tiling& cut, Sampling sampling) {
  std::vector<Extent> needed;
  problem.graph.include_needed_extents(middle_rect(problem.specs.back().extent, cut.tile), needed);
  if (sampling == Sampling::all) {
    visit_positions(problem, cut.band, cut.tile,
                    [&](const Rect& tile) { problem.graph.include_needed_extents(tile, needed); });
  }
  return tile_scratch_bytes(problem.graph, needed, problem.arithmetic);
}

/// Scratch bytes of a GPU, which computes a whole band at a time.
std::int64_t device_arena_bytes(const PlanProblem& problem, const Tiling& cut, Sampling sampling) {
  std::vector<Extent> needed;
  problem.graph.include_needed_extents(middle_rect(problem.specs.back().extent, cut.band), needed);
  visit_bands(problem, cut.band, sampling,
              [&](const Rect& band) { problem.graph.include_needed_extents(band, needed); });
  return graph_device_bytes(problem.graph, needed, problem.arithmetic);
}

}  // namespace

void set_sizes(const PlanProblem& problem, Tiling& cut, Sampling sampling) {
  set_slots(problem, cut, sampling);
  cut.memory = {.source = problem.source.buffer_bytes(cut.threads) + problem.buffered_bytes,
                .sink = problem.sink.buffer_bytes(cut.threads),
                .resident = problem.chain.resident_bytes()};
  std::int64_t secondary_bytes = 0;
  for (const std::int64_t bytes : cut.slot_secondary_bytes) secondary_bytes += bytes;
  const bool uses_cpu = problem.devices == 0 || problem.with_cpu;
  for (const SecondaryInput& second : problem.seconds)
    cut.memory.source += (problem.devices + (uses_cpu ? 1 : 0)) * second.reader->buffer_bytes(cut.threads);
  if (uses_cpu) {
    cut.arena_bytes = arena_bytes(problem, cut, sampling);
    cut.memory.slots = cut.slots * (cut.slot_input_bytes + secondary_bytes + cut.slot_output_bytes);
    cut.memory.scratch = cut.threads * cut.arena_bytes;
  }
  if (problem.devices == 0) return;
  std::int64_t host_input = problem.source.is_page_locked() ? 0 : cut.slot_input_bytes;
  std::int64_t host_output = problem.sink.is_page_locked() ? 0 : cut.slot_output_bytes;
  std::int64_t codecs = 0, redecoded = 0;
  if (problem.codecs.decodes) {
    const EncodedTiles& tiles = *problem.source.layout().coded;
    const DecodingSizes sizes(tiles, problem.specs.front(), cut.max_source_extent, cut.threads);
    host_input = sizes.host_bytes();
    codecs += cut.slots * sizes.device_bytes();
    redecoded = sizes.redecoded_bytes();
  }
  if (problem.codecs.encodes) {
    const EncodingSizes sizes(*problem.sink.layout().coded, cut.band);
    host_output = sizes.slot_bytes();
    codecs += cut.slots * sizes.slot_bytes() + sizes.scratch_bytes;
  }
  cut.memory.slots +=
      problem.devices * (cut.slots * (host_input + secondary_bytes + host_output) + redecoded);
  cut.memory.scratch += problem.devices * found_nan_bytes(problem.specs.front());
  cut.device_memory = {.slots = device_inputs(cut.slots) * (cut.slot_input_bytes + secondary_bytes) +
                                cut.slots * cut.slot_output_bytes,
                       .scratch = device_arena_bytes(problem, cut, sampling),
                       .codecs = codecs,
                       .resident = problem.chain.resident_bytes()};
}

}  // namespace sepconv
