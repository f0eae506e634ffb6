// Chooses among the CUDA kernels of transposition, and their tiles and order. Integers only.
#include <algorithm>
#include <bit>
#include <limits>

#include "sepconv/core/geometry.hpp"
#include "sepconv/kernels/transpose/tiles.hpp"

namespace sepconv::transposing {
namespace {

constexpr std::int64_t kTileBytes = 16 << 10;   // of a staged tile: eight fit a multiprocessor of Hopper
constexpr std::int64_t kMostShared = 48 << 10;  // what every GPU gives a block
constexpr std::int64_t kLeastRun =
    512;  // bytes of an element that need no staging: whole bursts of memory on both sides
constexpr std::int64_t kMostStaged = 8 << 10;  // bytes of an element of which a tile takes several
constexpr std::int64_t kMostTiles = std::numeric_limits<std::int32_t>::max();

/// The largest of 1, 2, 4, 8, 16 that divides all addresses and distances that matter.
std::int64_t alignment_of(const Job& job) {
  auto bits = reinterpret_cast<std::uintptr_t>(job.in) | reinterpret_cast<std::uintptr_t>(job.out) | 16U;
  const auto join = [&](bool matters, std::int64_t distance) {
    if (matters) bits |= static_cast<std::uintptr_t>(distance);
  };
  join(job.rows > 1, job.in_pitch);
  join(job.cols > 1, job.out_pitch);
  join(job.items > 1, job.in_item);
  join(job.items > 1, job.out_item);
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

std::int64_t unit_of(const Job& job) {
  const auto bits = static_cast<std::uint64_t>(job.element_bytes) | 16U;
  return std::min(alignment_of(job), static_cast<std::int64_t>(bits & (~bits + 1)));
}

/// The order of tiles. Blocks that run together should share what they touch, pages of memory and cache lines
/// at the tiles' edges: a band of a few tiles down, so that both sides get runs of several tiles. Where items
/// lie within one another's rows, their distance is the shortest there is, and they come first.
TileGrid grid_of(const Job& job, std::int64_t tile_items, std::int64_t tile_rows, std::int64_t tile_cols) {
  TileGrid grid;
  grid.items = static_cast<std::uint32_t>(ceil_div(job.items, tile_items));
  grid.rows = static_cast<std::uint32_t>(ceil_div(job.rows, tile_rows));
  grid.cols = static_cast<std::uint32_t>(ceil_div(job.cols, tile_cols));
  grid.band_rows = std::min<std::uint32_t>(grid.rows, 8);
  grid.band_cols = 1;
  grid.items_inside = job.items > 1 && (job.in_item < job.in_pitch || job.out_item < job.out_pitch) ? 1 : 0;
  return grid;
}

bool tiles_fit(const Job& job, std::int64_t tile_items, std::int64_t tile_rows, std::int64_t tile_cols) {
  const std::int64_t rows = ceil_div(job.rows, tile_rows);
  const std::int64_t cols = ceil_div(job.cols, tile_cols);
  const std::int64_t items = ceil_div(job.items, tile_items);
  return rows <= kMostTiles && cols <= kMostTiles / rows && items <= kMostTiles / (rows * cols);
}

template <class Tile>
bool plan_tile(CudaPlan& plan, bool chosen) {
  // Half a tile at least; else most threads of a block would have nothing to do.
  if (!chosen && (2 * plan.job.rows < Tile::kRows || 2 * plan.job.cols < Tile::kCols)) return false;
  if (alignment_of(plan.job) < Tile::kWordBytes || !tiles_fit(plan.job, 1, Tile::kRows, Tile::kCols))
    return false;
  plan.job.grid = grid_of(plan.job, 1, Tile::kRows, Tile::kCols);
  plan.kernel = CudaPlan::Kernel::tile;
  return true;
}

bool plan_tile(CudaPlan& plan, bool chosen) {
  switch (plan.job.element_bytes) {
    case 1:
      return plan_tile<Tile1>(plan, chosen);
    case 2:
      return plan_tile<Tile2>(plan, chosen);
    case 4:
      return plan_tile<Tile4>(plan, chosen);
    case 8:
      return plan_tile<Tile8>(plan, chosen);
    case 16:
      return plan_tile<Tile16>(plan, chosen);
    default:
      return false;
  }
}

/// Elements along one side of a tile: a multiple of 32 or a power of two, and not more than there are.
std::int64_t side(std::int64_t room, std::int64_t length) {
  const std::int64_t even = room >= 32 ? room / 32 * 32
                                       : static_cast<std::int64_t>(std::bit_floor(
                                             static_cast<std::uint64_t>(std::max<std::int64_t>(room, 1))));
  return std::min(even, length);
}

/// Where the rows of a tile lie in shared memory, so that threads which gather an output row meet few banks
/// twice.
void place_rows(StagedJob& staged, std::int64_t words_per_piece) {
  const std::int64_t word = std::max(4, staged.unit_bytes);
  const std::int64_t element = staged.job.element_bytes;
  std::int64_t row_bytes = words_per_piece * word;
  if (row_bytes >= 128 && element < 128) {
    // Consecutive elements of an output row follow one another around the banks, as they will in memory.
    while (row_bytes % 128 != round_up(element, word) % 128) row_bytes += word;
  } else if ((row_bytes / word) % 2 == 0) {
    row_bytes += word;
  }
  staged.row_bytes = static_cast<std::int32_t>(row_bytes);
  // Elements of which a thread gathers four or two: its neighbour begins as many rows on.
  if (element <= 2) staged.row_skew_shift = element == 1 ? 2 : 1;
  const std::int64_t skew = ((staged.tile_rows - 1) >> staged.row_skew_shift) * 4;
  staged.item_bytes = static_cast<std::int32_t>(staged.tile_rows * row_bytes + skew);
}

/// Fills in everything that follows from the sizes of the tile.
void lay_out(StagedJob& staged) {
  const Job& job = staged.job;
  const std::int64_t word = std::max(4, staged.unit_bytes);
  const std::int64_t slack = staged.unit_bytes < 4 ? 3 : 0;  // pieces begin anywhere within a word
  const std::int64_t s = job.element_bytes;
  const std::int64_t matrix_bytes = staged.tile_rows * staged.tile_cols * s;
  const bool rows_joined = staged.tile_cols == job.cols && (job.in_pitch == job.cols * s || job.rows == 1);
  const bool in_joined =
      rows_joined && staged.tile_rows == job.rows && job.in_item == job.rows * job.cols * s;
  const bool cols_joined = staged.tile_rows == job.rows && (job.out_pitch == job.rows * s || job.cols == 1);
  const bool out_joined =
      cols_joined && staged.tile_cols == job.cols && job.out_item == job.rows * job.cols * s;
  const auto words = [&](std::int64_t bytes) { return ceil_div(bytes + slack, word); };

  staged.in_pieces_per_item = Divisor(rows_joined ? 1 : staged.tile_rows);
  staged.in_pieces =
      in_joined ? 1 : staged.tile_items * static_cast<std::int32_t>(staged.in_pieces_per_item.value);
  const std::int64_t in_words = words(in_joined     ? staged.tile_items * matrix_bytes
                                      : rows_joined ? matrix_bytes
                                                    : staged.tile_cols * s);
  staged.in_words_per_piece = Divisor(in_words);
  staged.out_pieces_per_item = Divisor(cols_joined ? 1 : staged.tile_cols);
  staged.out_pieces =
      out_joined ? 1 : staged.tile_items * static_cast<std::int32_t>(staged.out_pieces_per_item.value);
  staged.out_words_per_piece = Divisor(words(out_joined    ? staged.tile_items * matrix_bytes
                                             : cols_joined ? matrix_bytes
                                                           : staged.tile_rows * s));
  staged.element = Divisor(s);
  staged.rows = Divisor(staged.tile_rows);
  staged.cols = Divisor(staged.tile_cols);

  staged.row_skew_shift = staged.pad_shift = 31;
  std::int64_t staged_bytes = 0;
  if (!rows_joined) {
    place_rows(staged, in_words);
    staged_bytes = std::int64_t{staged.tile_items} * staged.item_bytes;
  } else {
    // As in memory, but for a word of padding every 128 bytes, which parts the distances that are powers of
    // two.
    staged.pad_shift = 7;
    staged.row_bytes = static_cast<std::int32_t>(staged.tile_cols * s);
    staged.item_bytes = static_cast<std::int32_t>(in_joined ? matrix_bytes : in_words * word);
    staged_bytes = in_joined ? in_words * word : staged.tile_items * std::int64_t{staged.item_bytes};
    staged_bytes += (staged_bytes / 128 + 1) * word;
  }
  staged.shared_bytes = static_cast<std::int32_t>(staged_bytes + word);
}

bool plan_staged(CudaPlan& plan) {
  StagedJob& staged = plan.staged;
  staged.job = plan.job;
  const Job& job = staged.job;
  const std::int64_t s = job.element_bytes;
  if (s > kMostStaged) return false;
  staged.unit_bytes = static_cast<std::int32_t>(unit_of(job));
  for (std::int64_t room = std::max<std::int64_t>(kTileBytes / s, 1);; room /= 2) {
    const auto square = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(room)));
    const std::int64_t about = std::int64_t{1}
                               << (std::bit_width(static_cast<std::uint64_t>(square)) - 1) / 2;
    std::int64_t cols = side(about, job.cols);
    const std::int64_t rows = side(room / cols, job.rows);
    if (rows < about) cols = side(room / rows, job.cols);
    staged.tile_rows = static_cast<std::int32_t>(rows);
    staged.tile_cols = static_cast<std::int32_t>(cols);
    staged.tile_items =
        static_cast<std::int32_t>(std::min(job.items, std::max<std::int64_t>(room / (rows * cols), 1)));
    lay_out(staged);
    if (staged.shared_bytes <= 2 * kTileBytes || room == 1) break;
  }
  if (staged.shared_bytes > kMostShared) return false;
  if (!tiles_fit(job, staged.tile_items, staged.tile_rows, staged.tile_cols)) return false;
  staged.job.grid = grid_of(job, staged.tile_items, staged.tile_rows, staged.tile_cols);
  plan.kernel = CudaPlan::Kernel::staged;
  return true;
}

bool plan_runs(CudaPlan& plan) {
  RunsJob& runs = plan.runs;
  runs.job = plan.job;
  const Job& job = runs.job;
  const std::int64_t s = job.element_bytes;
  const std::int64_t unit = unit_of(job);
  runs.unit_bytes = static_cast<std::int32_t>(unit);
  runs.segment_bytes = static_cast<std::int32_t>(std::min(s, kTileBytes));
  runs.segments = static_cast<std::uint32_t>(ceil_div(s, runs.segment_bytes));
  const std::int64_t room = std::max<std::int64_t>(kTileBytes / s, 1);
  const std::int64_t rows = std::min(room, job.rows);
  const std::int64_t cols = std::min(room / rows, job.cols);
  runs.tile_rows = static_cast<std::int32_t>(rows);
  runs.tile_cols = static_cast<std::int32_t>(cols);
  runs.units_per_run = Divisor(runs.segment_bytes / unit);
  runs.rows = Divisor(rows);
  if (job.items > kMostTiles / runs.segments) return false;
  Job counted = job;
  counted.items *= runs.segments;
  if (!tiles_fit(counted, 1, rows, cols)) return false;
  runs.job.grid = grid_of(job, 1, rows, cols);
  runs.job.grid.items *= runs.segments;
  plan.kernel = CudaPlan::Kernel::runs;
  return true;
}

Job job_of(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  return {.in = in.data,
          .out = out.data,
          .in_pitch = in.pitch_bytes,
          .in_item = in.item_bytes,
          .out_pitch = out.pitch_bytes,
          .out_item = out.item_bytes,
          .items = shape.items,
          .rows = shape.rows,
          .cols = shape.cols,
          .element_bytes = shape.element_bytes};
}

/// A distance that nothing is apart by counts as that of dense matrices.
Job without_idle_distances(Job job) {
  if (job.rows == 1) job.in_pitch = job.cols * job.element_bytes;
  if (job.cols == 1) job.out_pitch = job.rows * job.element_bytes;
  if (job.items == 1) job.in_item = job.out_item = job.rows * job.cols * job.element_bytes;
  return job;
}

/// One step of simplified(). Whether there was one.
bool simplify(Job& job) {
  const std::int64_t s = job.element_bytes;
  if (job.rows == 1 && job.cols > 1 && job.out_pitch == s) {  // a run
    job.element_bytes *= job.cols;
    job.cols = 1;
  } else if (job.cols == 1 && job.rows > 1 && job.in_pitch == s) {
    job.element_bytes *= job.rows;
    job.rows = 1;
  } else if (job.items > 1 && job.in_item == job.rows * job.in_pitch &&
             job.out_item == job.rows * s) {  // one below the other
    job.rows *= job.items;
    job.items = 1;
  } else if (job.items > 1 && job.in_item == job.cols * s &&
             job.out_item == job.cols * job.out_pitch) {  // side by side
    job.cols *= job.items;
    job.items = 1;
  } else if (job.items > 1 && job.cols == 1 && job.in_item == s) {  // columns side by side
    job.cols = job.items;
    job.out_pitch = job.out_item;
    job.items = 1;
  } else if (job.items > 1 && job.rows == 1 && job.out_item == s) {  // rows that become columns side by side
    job.rows = job.items;
    job.in_pitch = job.in_item;
    job.items = 1;
  } else {
    return false;
  }
  job = without_idle_distances(job);
  return true;
}

}  // namespace

Job simplified(Job job) {
  job = without_idle_distances(job);
  while (simplify(job)) {
  }
  return job;
}

CudaPlan plan_transpose(CudaPlan::Kernel kernel, const TransposeShape& shape, ConstMatrices in,
                        Matrices out) {
  CudaPlan plan;
  if (shape.bytes() == 0) return plan;
  plan.job = simplified(job_of(shape, in, out));
  const Job& job = plan.job;
  switch (kernel) {
    case CudaPlan::Kernel::none:
      break;
    case CudaPlan::Kernel::copy:
      if (job.items * job.rows * job.cols == 1) plan.kernel = kernel;
      break;
    case CudaPlan::Kernel::tile:
      plan_tile(plan, true);
      break;
    case CudaPlan::Kernel::staged:
      plan_staged(plan);
      break;
    case CudaPlan::Kernel::runs:
      plan_runs(plan);
      break;
  }
  return plan;
}

CudaPlan plan_transpose(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  CudaPlan plan;
  if (shape.bytes() == 0) return plan;
  plan.job = simplified(job_of(shape, in, out));
  const Job& job = plan.job;
  if (job.items * job.rows * job.cols == 1) {
    plan.kernel = CudaPlan::Kernel::copy;
    return plan;
  }
  if (plan_tile(plan, false)) return plan;
  const bool is_run = job.element_bytes >= kLeastRun && unit_of(job) >= 4;
  if (is_run && plan_runs(plan)) return plan;
  if (plan_staged(plan)) return plan;
  plan_runs(plan);
  return plan;
}

}  // namespace sepconv::transposing
