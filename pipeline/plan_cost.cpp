#include "sepconv/pipeline/plan_cost.hpp"

#include <algorithm>
#include <limits>

#include "sepconv/pipeline/chain_tile.hpp"

namespace sepconv {
namespace {

// Constants of the cost model, in units of one multiply-add; they only rank candidates. Measured on AVX-512
// and AVX2 processors, where a core does some 20 to 60 multiply-adds a nanosecond.
constexpr double kRowOverhead = 3000;          // starting a row of a tile: border, pointers, loop set-up
constexpr double kByteMoved = 8;               // reading or writing a byte of a band
constexpr std::int64_t kCacheBytes = 1 << 20;  // scratch that one core's L2 cache keeps
constexpr double kOutOfCache = 1.3;
constexpr double kOverBudget = 1e3;    // never chosen while a smaller scratch is to be had
// Of a GPU on a bus, in seconds; they too only rank candidates. Measured on an H200.
constexpr double kDeviceOperation = 1.0 / 1e13;
constexpr double kBusByte = 1.0 / 50e9;
constexpr double kDeviceBand = 30e-6;  // launches and events of a band

constexpr double kNoOverlap = 1.6;     // one slot: reading, computing and writing wait for each other
constexpr double kSomeOverlap = 1.05;  // two slots: one of the three waits at times

double ceil_ratio(std::int64_t value, std::int64_t unit) {
  return static_cast<double>(ceil_div(value, unit));
}

/// Estimated time of a band over `threads` threads when it is cut into tiles like this.
double band_work(const PlanProblem& problem, Extent band, Extent tile, int threads) {
  const double tiles = ceil_ratio(band.rows, tile.rows) * ceil_ratio(band.cols, tile.cols);
  const double waves =
      std::max(1.0, static_cast<double>(ceil_div(static_cast<std::int64_t>(tiles), threads)));
  const double stages = static_cast<double>(std::max<std::size_t>(1, problem.chain.size()));
  const double per_tile = tile_operations(problem.chain, problem.specs, tile) +
                          kRowOverhead * stages * static_cast<double>(tile.rows);
  return waves * per_tile;
}

double scratch_factor(std::int64_t arena_bytes, std::int64_t max_arena_bytes) {
  if (arena_bytes > max_arena_bytes)
    return kOverBudget * static_cast<double>(arena_bytes) / static_cast<double>(max_arena_bytes);
  return arena_bytes > kCacheBytes ? kOutOfCache : 1.0;
}

/// Source bytes decoded over the whole run: once for full-width bands; column tiles read their halos and
/// partly used blocks again.
std::int64_t bytes_read(const PlanProblem& problem, Extent band) {
  const ImageSpec& source = problem.specs.front();
  const SourceLayout& layout = problem.source.layout();
  if (!layout.streams) return source.bytes();
  const Extent result = problem.specs.back().extent;
  std::int64_t pixels = 0;
  for (std::int64_t col = 0; col < result.cols; col += band.cols) {
    const Rect column{0, col, result.rows, std::min(band.cols, result.cols - col)};
    const Rect needed = source_rect(problem.chain, problem.specs, column);
    const std::int64_t begin = needed.col / layout.block.cols * layout.block.cols;
    const std::int64_t end = std::min(round_up(needed.col_end(), layout.block.cols), source.extent.cols);
    pixels += (end - begin) * needed.rows;
  }
  return pixels * source.pixel_bytes();
}

/// What a slot holds: of the source, with halo and rounded up to whole blocks, and of the result.
void set_slots(const PlanProblem& problem, Cut& cut) {
  const ImageSpec& source = problem.specs.front();
  const ImageSpec& result = problem.specs.back();
  const Rect needed = source_rect(problem.chain, problem.specs, middle_rect(result.extent, cut.band));
  const std::int64_t held_rows = std::min(needed.rows + problem.read_unit_rows() - 1, source.extent.rows);
  cut.slot_input_bytes = held_rows * needed.cols * source.pixel_bytes();
  cut.slot_output_bytes = cut.band.area() * result.pixel_bytes();
}

double overlap_factor(int slots) { return slots == 1 ? kNoOverlap : slots == 2 ? kSomeOverlap : 1.0; }

}  // namespace

std::int64_t PlanProblem::read_unit_rows() const {
  const SourceLayout& layout = source.layout();
  return layout.streams && layout.access == Access::random ? std::max<std::int64_t>(1, layout.block.rows) : 1;
}

Extent PlanProblem::band_unit() const {
  const Extent image = specs.back().extent;
  const Extent block = sink.layout().block;
  return {std::clamp<std::int64_t>(block.rows, 1, image.rows),
          std::clamp<std::int64_t>(block.cols, 1, image.cols)};
}

std::int64_t PlanProblem::halo_rows(Extent band) const {
  const Rect middle = middle_rect(specs.back().extent, band);
  return std::max<std::int64_t>(0, source_rect(chain, specs, middle).rows - middle.rows);
}

Extent choose_tile(const PlanProblem& problem, Extent band, int threads, Extent forced) {
  if (!forced.empty()) return {std::min(forced.rows, band.rows), std::min(forced.cols, band.cols)};
  Extent best = band;
  double best_work = std::numeric_limits<double>::infinity();
  for (std::int64_t rows = band.rows; rows >= 1; rows = rows > 1 ? ceil_div(rows, 2) : 0) {
    for (std::int64_t cols = band.cols; cols >= 1;) {
      const std::int64_t scratch =
          tile_scratch_bytes(problem.chain, problem.specs, {rows, cols}, problem.arithmetic);
      const double work =
          band_work(problem, band, {rows, cols}, threads) * scratch_factor(scratch, problem.max_arena_bytes);
      if (work < best_work) best = {rows, cols}, best_work = work;
      if (cols <= 64) break;
      // From the full width down to the next powers of two.
      std::int64_t power = 64;
      while (power * 2 < cols) power *= 2;
      cols = power;
    }
    if (rows <= 8) break;
  }
  return best;
}

Cut evaluate(const PlanProblem& problem, Extent band, int slots, int threads, Extent forced_tile) {
  const ImageSpec& result = problem.specs.back();
  Cut cut;
  cut.band = band;
  cut.slots = slots;
  cut.threads = threads;
  cut.tile = choose_tile(problem, band, threads, forced_tile);
  cut.arena_bytes = tile_scratch_bytes(problem.chain, problem.specs, cut.tile, problem.arithmetic);

  set_slots(problem, cut);
  cut.memory = {.slots = slots * (cut.slot_input_bytes + cut.slot_output_bytes),
                .scratch = threads * cut.arena_bytes,
                .source = problem.source.buffer_bytes(threads),
                .sink = problem.sink.buffer_bytes(threads)};

  cut.bytes_read = bytes_read(problem, band);
  const double bands = ceil_ratio(result.extent.rows, band.rows) * ceil_ratio(result.extent.cols, band.cols);
  const double tiles = ceil_ratio(band.rows, cut.tile.rows) * ceil_ratio(band.cols, cut.tile.cols);
  // Edge tiles are smaller than the others: count by area, not by number.
  const double share =
      static_cast<double>(result.extent.area()) / (bands * tiles * static_cast<double>(cut.tile.area()));
  cut.operations =
      tile_operations(problem.chain, problem.specs, cut.tile) * bands * tiles * std::min(1.0, share);
  const double moved = static_cast<double>(cut.bytes_read + result.bytes());
  const double work =
      band_work(problem, band, cut.tile, threads) * (cut.arena_bytes > kCacheBytes ? kOutOfCache : 1.0);
  cut.cost = (bands * work * threads + kByteMoved * moved) * overlap_factor(slots) / threads;
  return cut;
}

Cut evaluate_on_devices(const PlanProblem& problem, Extent band, int slots, int threads) {
  const ImageSpec& result = problem.specs.back();
  Cut cut;
  cut.band = band;
  cut.tile = band;
  cut.slots = slots;
  cut.threads = threads;
  set_slots(problem, cut);
  const std::int64_t host_slot = (problem.source.is_page_locked() ? 0 : cut.slot_input_bytes) +
                                 (problem.sink.is_page_locked() ? 0 : cut.slot_output_bytes);
  cut.memory = {.slots = problem.devices * slots * host_slot,
                .scratch = 0,
                .source = problem.source.buffer_bytes(threads),
                .sink = problem.sink.buffer_bytes(threads)};
  cut.device_memory = {.slots = device_inputs(slots) * cut.slot_input_bytes + slots * cut.slot_output_bytes,
                       .scratch = chain_device_bytes(problem.chain, problem.specs, band, problem.arithmetic)};
  cut.bytes_read = bytes_read(problem, band);
  const double bands = ceil_ratio(result.extent.rows, band.rows) * ceil_ratio(result.extent.cols, band.cols);
  const double share = static_cast<double>(result.extent.area()) / (bands * static_cast<double>(band.area()));
  cut.operations = tile_operations(problem.chain, problem.specs, band) * bands * std::min(1.0, share);
  const double moved = static_cast<double>(cut.bytes_read + result.bytes());
  cut.cost = (cut.operations * kDeviceOperation + moved * kBusByte + bands * kDeviceBand) * overlap_factor(slots);
  return cut;
}

}  // namespace sepconv
