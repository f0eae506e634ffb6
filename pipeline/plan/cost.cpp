#include "pipeline/plan/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/plan/buffer_sizes.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxSampled = 64;    // parts of a result examined one by one
constexpr Extent kMinTile{8, 64};           // in source pixels; smaller tiles are not worth their overhead
constexpr double kOverBudgetPenalty = 1e3;  // never chosen if a tile with smaller scratch exists
constexpr double kExposedFraction =
    1.0;  // fraction of a band row's time: the first read and the last write do not overlap

double ceil_ratio(std::int64_t value, std::int64_t unit) {
  return static_cast<double>(ceil_div(value, unit));
}

/// Seconds to compute a band of tiles with `threads` threads.
double band_work(const PlanProblem& problem, Extent band, Extent tile, int threads) {
  const double tiles = ceil_ratio(band.rows, tile.rows) * ceil_ratio(band.cols, tile.cols);
  const double waves =
      std::max(1.0, static_cast<double>(ceil_div(static_cast<std::int64_t>(tiles), threads)));
  const double stages = static_cast<double>(std::max<std::size_t>(1, problem.chain.size()));
  const HostModel& host = problem.machine.host;
  const double per_tile =
      host.tile_seconds + host.fma_seconds * tile_operations(problem.graph, tile) +
      host.row_seconds * stages * static_cast<double>(problem.turned ? tile.cols : tile.rows) +
      host.packed_seconds * problem.sum_length * static_cast<double>(tile.rows + tile.cols);
  return (waves + (threads > 1 ? host.straggler : 0)) * per_tile;
}

/// Time factor for scratch that exceeds a core's cache.
double cache_factor(const PlanProblem& problem, std::int64_t arena_bytes) {
  const HostModel& host = problem.machine.host;
  const auto streams = [](const StagePtr& stage) { return stage->properties().streams_scratch; };
  const bool all_stream = !problem.chain.empty() && std::ranges::all_of(problem.chain.stages(), streams);
  return arena_bytes > host.cache_bytes && !all_stream ? host.out_of_cache : 1.0;
}

double scratch_factor(const PlanProblem& problem, std::int64_t arena_bytes, std::int64_t max_arena_bytes) {
  if (arena_bytes > max_arena_bytes)
    return kOverBudgetPenalty * static_cast<double>(arena_bytes) / static_cast<double>(max_arena_bytes);
  return cache_factor(problem, arena_bytes);
}

/// Pixels of all source blocks that `part` of the result touches. A block shared with the part below counts
/// once, unless parts of neighbouring items are computed in between.
std::int64_t decoded_pixels(const PlanProblem& problem, const Rect& part) {
  const Extent source = problem.specs.front().extent;
  const Extent block = problem.source.layout().unit();
  const Rect needed = problem.graph.source_rect(part);
  const auto touched_length = [](std::int64_t begin, std::int64_t end, std::int64_t unit, std::int64_t side) {
    if (begin < 0 || end > side) return end - begin;  // border=wrap reads pixels of the opposite edge again
    return std::min(round_up(end, unit), side) - begin / unit * unit;
  };
  const bool splits_items = problem.item.rows < problem.region.rows && part.rows < problem.item.rows;
  return touched_length(needed.row, needed.row_end(), splits_items ? problem.read_unit_rows() : 1,
                        source.rows) *
         std::min(source.cols, touched_length(needed.col, needed.col_end(), block.cols, source.cols));
}

/// Sum of decoded_pixels over `count` parts of the result; part(index) returns a part. If there are many, a
/// sample of the middle ones is extrapolated: they differ only in their alignment to source blocks.
template <class Part>
std::int64_t sum_decoded(const PlanProblem& problem, std::int64_t count, const Part& part) {
  const auto sum = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t pixels = 0;
    for (std::int64_t index = begin; index < end; ++index) pixels += decoded_pixels(problem, part(index));
    return pixels;
  };
  if (count <= kMaxSampled) return sum(0, count);
  const std::int64_t sample_count = kMaxSampled - 2;
  const std::int64_t begin = (count - sample_count) / 2;
  const double mean =
      static_cast<double>(sum(begin, begin + sample_count)) / static_cast<double>(sample_count);
  return sum(0, 1) + sum(count - 1, count) + std::llround(mean * static_cast<double>(count - 2));
}

/// Source bytes decoded by the whole run. Bands of full source width decode each byte once; narrower bands
/// repeat their halos and partly used blocks.
std::int64_t bytes_read(const PlanProblem& problem, Extent band) {
  const ImageSpec& source = problem.specs.front();
  if (!problem.source.layout().streams) return source.bytes();
  const Rect& result = problem.region;
  // Parts of the result computed from top to bottom of the source: columns of bands, or rows of bands of a
  // transposed result, cut at the ends of items.
  const BandTiling rows = problem.turned ? BandTiling{result.rows, problem.item.rows, band.rows}
                                         : BandTiling{result.rows, result.rows, result.rows};
  const BandTiling cols =
      problem.turned ? BandTiling{result.cols, problem.item.cols, std::max(band.cols, problem.item.cols)}
                     : BandTiling{result.cols, result.cols, band.cols};
  const std::int64_t pixels = sum_decoded(problem, rows.count() * cols.count(), [&](std::int64_t index) {
    const std::int64_t row = index / cols.count();
    const std::int64_t col = index % cols.count();
    return Rect{result.row + rows.begin(row), result.col + cols.begin(col), rows.size(row), cols.size(col)};
  });
  return pixels * source.pixel_bytes();
}

/// Overhead, in equivalent bytes, of reading or writing an image's file in pieces of `piece_bytes`;
/// `overhead` per piece.
double file_pieces_bytes(const PlanProblem& problem, const ImageSpec& image, std::int64_t piece_bytes,
                         std::int64_t overhead) {
  return static_cast<double>(image.bytes()) /
         static_cast<double>(std::min(piece_bytes, problem.machine.files.long_piece_bytes)) *
         static_cast<double>(overhead);
}

/// Overhead, in equivalent bytes, of short pieces of source or sink when not copied by a GPU: pieces of
/// `cols` of each row, `file_overhead` per piece of a file.
double piece_bytes(const PlanProblem& problem, const ImageSpec& image, std::int64_t cols, bool is_memory,
                   std::int64_t file_overhead) {
  if (cols >= image.extent.cols) return 0;
  const std::int64_t bytes = cols * image.pixel_bytes();
  if (!is_memory) return file_pieces_bytes(problem, image, bytes, file_overhead);
  return static_cast<double>(image.bytes()) / static_cast<double>(bytes) *
         static_cast<double>(problem.machine.host.memory_gap_bytes);
}

/// Overhead, in equivalent bytes, of partial tiles of bands of `rows` rows; `overhead` per piece.
template <class Layout>
double tile_piece_bytes(const PlanProblem& problem, const ImageSpec& image, const Layout& layout,
                        std::int64_t rows, std::int64_t overhead) {
  if (!layout.partial_blocks || rows >= image.extent.rows || rows % layout.block.rows == 0) return 0;
  return file_pieces_bytes(
      problem, image, std::min(rows, layout.block.rows) * layout.block.cols * image.pixel_bytes(), overhead);
}

/// Overhead, in equivalent one-way bytes, of copying `cols` of each row over the bus.
double copied_rows_bytes(const BusModel& bus, const ImageSpec& image, std::int64_t cols, bool upload) {
  if (cols >= image.extent.cols) return 0;
  const std::int64_t bytes = cols * image.pixel_bytes();
  const double gaps = std::min(1.0, static_cast<double>(image.row_bytes()) / bus.gap_pitch_bytes);
  const double row_seconds = upload && bytes >= bus.long_row_bytes ? bus.long_gap_seconds : bus.gap_seconds;
  return static_cast<double>(image.bytes()) / static_cast<double>(bytes) * row_seconds * bus.both_ways_rate *
         gaps * gaps;
}

/// The same if a kernel stores the rows.
double stored_rows_bytes(const BusModel& bus, const ImageSpec& image, std::int64_t cols) {
  const auto row_bytes = static_cast<double>(cols * image.pixel_bytes());
  return static_cast<double>(image.bytes()) * (bus.kernel_byte + bus.kernel_row_bytes / row_bytes);
}

/// Fraction of the source that the region needs.
double read_fraction(const PlanProblem& problem) {
  const Rect needed = problem.graph.source_rect(problem.region);
  const auto all = static_cast<double>(problem.specs.front().extent.area());
  return std::min(1.0, static_cast<double>(needed.area()) / all);
}

/// Sets the overhead of short pieces of source and sink: partial tiles, and pieces of rows if bands are
/// blocks or columns, because the result is transposed or whole columns are needed.
void set_pieces(const PlanProblem& problem, BandTraffic& traffic) {
  const ImageSpec& source = problem.specs.front();
  const ImageSpec& result = problem.sink.spec();
  const FileModel& files = problem.machine.files;
  const BusModel& bus = problem.machine.bus;
  const std::int64_t source_rows = problem.turned ? traffic.band.cols : traffic.band.rows;
  const double fraction = read_fraction(problem);
  const double tile_bytes =
      fraction *
          tile_piece_bytes(problem, source, problem.source.layout(), source_rows, files.read_tile_bytes) +
      tile_piece_bytes(problem, result, problem.sink.layout(), traffic.band.rows, files.written_tile_bytes);
  traffic.piece_bytes += tile_bytes * (problem.devices > 0 ? bus.file_factor : 1);
  if (!problem.turned && !problem.whole_columns) return;
  const std::int64_t source_cols = problem.graph.source_rect(problem.middle(traffic.band)).cols;
  const std::int64_t result_cols = traffic.band.cols;
  const bool from_bus = problem.devices > 0 && problem.source.is_page_locked();
  const bool to_bus = problem.devices > 0 && problem.sink.is_page_locked();
  double up = 0;
  double down = 0;
  if (from_bus) {
    up = fraction * copied_rows_bytes(bus, source, source_cols, true);
  } else if (problem.source.layout().block.cols == 1) {
    traffic.piece_bytes += fraction * piece_bytes(problem, source, source_cols,
                                                  problem.source.is_page_locked(), files.read_piece_bytes);
  }
  if (to_bus) {
    const double stored = stored_rows_bytes(bus, result, result_cols) + up;
    down = copied_rows_bytes(bus, result, result_cols, false);
    traffic.kernel_stores_rows = stored < std::max(up, down);
    if (traffic.kernel_stores_rows) down = stored;
  } else if (problem.sink.layout().block.cols == 1) {
    traffic.piece_bytes +=
        piece_bytes(problem, result, result_cols, problem.sink.is_page_locked(), files.written_piece_bytes);
  }
  // Both directions run simultaneously: the slower one counts, including the traffic in the meantime.
  traffic.piece_bytes += from_bus && to_bus ? 2 * std::max(up, down) : up + down;
}

double overlap_factor(const HostModel& host, int slots) {
  return slots == 1 ? host.no_overlap : slots == 2 ? host.some_overlap : 1.0;
}

}  // namespace

Extent choose_tile(const PlanProblem& problem, Extent band, int threads, std::int64_t max_arena_bytes,
                   Extent forced) {
  if (!forced.empty()) return {std::min(forced.rows, band.rows), std::min(forced.cols, band.cols)};
  Extent best = band;
  double best_work = std::numeric_limits<double>::infinity();
  // An item of one column is not cut: it is computed from source rows.
  const Extent min_tile = problem.result_extent(kMinTile);
  const std::int64_t min_rows = problem.turned && problem.item.cols == 1 ? band.rows : min_tile.rows;
  const std::int64_t unit = problem.tile_cols();
  for (std::int64_t rows = band.rows; rows >= 1; rows = rows > 1 ? ceil_div(rows, 2) : 0) {
    for (std::int64_t units = ceil_div(band.cols, unit); units >= 1;) {
      const std::int64_t cols = std::min(units * unit, band.cols);
      const std::int64_t scratch = tile_scratch_bytes(problem.graph, {rows, cols}, problem.arithmetic);
      const double work =
          band_work(problem, band, {rows, cols}, threads) * scratch_factor(problem, scratch, max_arena_bytes);
      if (work < best_work) best = {rows, cols}, best_work = work;
      if (cols <= std::max(min_tile.cols, unit)) break;
      // Tries the full width, then smaller powers of two.
      std::int64_t power = 1;
      while (power * 2 < units) power *= 2;
      units = power;
    }
    if (rows <= min_rows) break;
  }
  return best;
}

BandTraffic traffic_of(const PlanProblem& problem, Extent band) {
  BandTraffic traffic{band, bytes_read(problem, band)};
  set_pieces(problem, traffic);
  return traffic;
}

Tiling evaluate(const PlanProblem& problem, const BandTraffic& traffic, Extent tile, int slots, int threads) {
  const ImageSpec& result = problem.sink.spec();
  const Extent band = traffic.band;
  Tiling cut;
  cut.band = band;
  cut.slots = slots;
  cut.threads = threads;
  cut.tile = tile;
  set_sizes(problem, cut, Sampling::few);
  cut.bytes_read = traffic.bytes_read;
  const double bands = ceil_ratio(result.extent.rows, band.rows) * ceil_ratio(result.extent.cols, band.cols);
  const double tiles = ceil_ratio(band.rows, cut.tile.rows) * ceil_ratio(band.cols, cut.tile.cols);
  // Edge tiles are smaller: count by area, not by number.
  const double fraction =
      static_cast<double>(result.extent.area()) / (bands * tiles * static_cast<double>(cut.tile.area()));
  cut.operations = tile_operations(problem.graph, cut.tile) * bands * tiles * std::min(1.0, fraction);
  double moved = static_cast<double>(cut.bytes_read + result.bytes()) + traffic.piece_bytes;
  if (problem.whole_columns) moved += static_cast<double>(cut.slot_input_bytes + cut.slot_output_bytes);
  const HostModel& host = problem.machine.host;
  const double work = band_work(problem, band, cut.tile, threads) * cache_factor(problem, cut.arena_bytes);
  const bool has_exposed_ends = slots > 1 && !problem.turned && !problem.whole_columns;
  const double exposed = has_exposed_ends ? kExposedFraction / ceil_ratio(result.extent.rows, band.rows) : 0;
  cut.compute_seconds = bands * work;
  cut.piece_bytes = traffic.piece_bytes;
  cut.cost = (bands * work * threads + host.moved_byte_seconds * moved) * overlap_factor(host, slots) *
                 (1 + exposed) / threads +
             bands * host.band_seconds;
  return cut;
}

Tiling evaluate_on_devices(const PlanProblem& problem, const BandTraffic& traffic, int slots, int threads) {
  const ImageSpec& result = problem.sink.spec();
  const Extent band = traffic.band;
  Tiling cut;
  cut.band = band;
  cut.tile = band;
  cut.slots = slots;
  cut.threads = threads;
  set_sizes(problem, cut, Sampling::few);
  cut.bytes_read = traffic.bytes_read;
  cut.kernel_stores_rows = traffic.kernel_stores_rows;
  const double bands = ceil_ratio(result.extent.rows, band.rows) * ceil_ratio(result.extent.cols, band.cols);
  const double fraction =
      static_cast<double>(result.extent.area()) / (bands * static_cast<double>(band.area()));
  cut.operations = tile_operations(problem.graph, band, Scratch::device) * bands * std::min(1.0, fraction);
  double moved = static_cast<double>(cut.bytes_read + result.bytes()) + traffic.piece_bytes;
  // The first upload and the last download do not overlap. The size of other bands already accounts for it
  // (candidates.cpp).
  if (problem.turned || problem.whole_columns)
    moved += static_cast<double>(cut.slot_input_bytes + cut.slot_output_bytes);
  const std::int64_t elements = band.area() * result.channels;
  const DeviceModel& device = problem.machine.device;
  const bool is_small = problem.sum_length > 0 && elements < device.product_elements;
  const double idle_factor =
      is_small ? static_cast<double>(device.product_elements) / static_cast<double>(elements) : 1;
  cut.compute_seconds = cut.operations * device.fma_seconds * idle_factor + bands * device.band_seconds;
  cut.piece_bytes = traffic.piece_bytes;
  cut.cost = (cut.compute_seconds + moved / problem.machine.bus.both_ways_rate) *
             overlap_factor(problem.machine.host, slots);
  return cut;
}

Tiling evaluate_together(const PlanProblem& problem, const BandTraffic& traffic, Extent tile, int slots,
                         int threads) {
  const Tiling on_device = evaluate_on_devices(problem, traffic, slots, threads);
  Tiling cut = evaluate(problem, traffic, tile, slots, threads);
  cut.device_seconds = on_device.compute_seconds;
  const double bands =
      ceil_ratio(problem.region.rows, cut.band.rows) * ceil_ratio(problem.region.cols, cut.band.cols);
  const double rate = 1 / cut.cost + problem.devices / on_device.cost;
  // The faster device may wait for the last band of the slower one, or compute it alone.
  cut.cost = 1 / rate + std::min(cut.cost, on_device.cost) / bands;
  return cut;
}

}  // namespace sepconv
