// Chooses the CUDA kernel of a transposition, its tiles and their order. Integer arithmetic only.
#include <algorithm>
#include <bit>
#include <limits>

#include "core/geometry.hpp"
#include "kernels/transpose/tiles.hpp"

namespace sepconv::transposing {
namespace {

constexpr std::int64_t kMinRun = 256;         // element size in bytes from which no staging is needed
constexpr std::int64_t kMinShiftedRun = 128;  // the same for unaligned runs
constexpr std::int64_t kManyTiles = 1024;     // about the number that run simultaneously
constexpr std::int64_t kMaxTiles = std::numeric_limits<std::int32_t>::max();

/// The largest of 1, 2, 4, 8, 16 that divides all used addresses and distances.
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

}  // namespace

std::int64_t unit_of(const Job& job) {
  const auto bits = static_cast<std::uint64_t>(job.element_bytes) | 16U;
  return std::min(alignment_of(job), static_cast<std::int64_t>(bits & (~bits + 1)));
}

/// Blocks that run simultaneously should write whole pages of memory and share cache lines at the edges of
/// tiles, so the order follows the output's rows. If one row has more blocks than run simultaneously, squares
/// of tiles share pages on both sides. If matrices are interleaved, the distance between them is the
/// shortest, so for tiles of short rows the items come first.
TileGrid grid_of(const Job& job, std::int64_t tile_items, std::int64_t tile_rows, std::int64_t tile_cols,
                 std::int64_t overhang) {
  TileGrid grid;
  grid.items = static_cast<std::uint32_t>(ceil_div(job.items, tile_items));
  grid.rows = static_cast<std::uint32_t>(ceil_div(job.rows + overhang, tile_rows));
  grid.cols = static_cast<std::uint32_t>(ceil_div(job.cols, tile_cols));
  grid.band_rows = grid.rows;
  grid.band_cols = 1;
  const bool interleaved = job.items > 1 && (job.in_item < job.in_pitch || job.out_item < job.out_pitch);
  if (interleaved && job.element_bytes < 4) {
    grid.items_within_band = 1;
  } else if ((interleaved || grid.rows > kManyTiles) && grid.cols > 1) {
    grid.band_rows = std::min<std::uint32_t>(grid.rows, 4);
    grid.band_cols = std::min<std::uint32_t>(grid.cols, 4);
  }
  return grid;
}

bool tiles_fit(const Job& job, std::int64_t tile_items, std::int64_t tile_rows, std::int64_t tile_cols,
               std::int64_t overhang) {
  const std::int64_t rows = ceil_div(job.rows + overhang, tile_rows);
  const std::int64_t cols = ceil_div(job.cols, tile_cols);
  const std::int64_t items = ceil_div(job.items, tile_items);
  return rows <= kMaxTiles && cols <= kMaxTiles / rows && items <= kMaxTiles / (rows * cols);
}

namespace {

/// Whether all output rows begin at a sector boundary of the cache.
bool rows_are_sectors(const Job& job) {
  auto bits = reinterpret_cast<std::uintptr_t>(job.out) | static_cast<std::uintptr_t>(job.out_pitch);
  if (job.items > 1) bits |= static_cast<std::uintptr_t>(job.out_item);
  return bits % 32 == 0;
}

/// Whether the matrix fills at least half a tile in both directions; otherwise most threads of a block would
/// idle.
template <class Tile>
bool fills_half_tile(const Job& job) {
  return 2 * job.rows >= Tile::kRows && 2 * job.cols >= Tile::kCols;
}

/// Whether the matrix has 17 to 32 columns (rows for is_flat) and is long in the other direction.
template <class Tile>
bool is_narrow(const Job& job) {
  return job.cols > 16 && job.cols <= 32 && 2 * job.rows >= Tile::kRows;
}
bool is_flat(const Job& job) { return job.rows > 16 && job.rows <= 32 && 2 * job.cols >= FlatTile4::kCols; }

template <class Tile>
bool plan_tile(CudaPlan& plan, bool forced, CudaPlan::Form form = CudaPlan::Form::square) {
  if (!forced &&
      (!fills_half_tile<Tile>(plan.job) || (Tile::kElementBytes < 16 && !rows_are_sectors(plan.job))))
    return false;
  if (alignment_of(plan.job) < Tile::kWordBytes || !tiles_fit(plan.job, 1, Tile::kRows, Tile::kCols))
    return false;
  plan.job.grid = grid_of(plan.job, 1, Tile::kRows, Tile::kCols);
  plan.form = form;
  plan.kernel = CudaPlan::Kernel::tile;
  return true;
}

/// Plans shifted tiles and pixel tiles, whose elements must be multiples of `unit`.
template <class Tile>
bool plan_halo_tile(CudaPlan& plan, bool forced, std::int64_t unit, CudaPlan::Kernel kernel,
                    CudaPlan::Form form = CudaPlan::Form::square) {
  const Job& job = plan.job;
  if ((!forced && !fills_half_tile<Tile>(job)) || unit_of(job) < unit) return false;
  if (!tiles_fit(job, 1, Tile::kRows, Tile::kCols, Tile::kHalo)) return false;
  plan.job.grid = grid_of(job, 1, Tile::kRows, Tile::kCols, Tile::kHalo);
  plan.form = form;
  plan.kernel = kernel;
  return true;
}

bool plan_tile(CudaPlan& plan, bool forced) {
  switch (plan.job.element_bytes) {
    case 1:
      return plan_tile<Tile1>(plan, forced);
    case 2:
      return plan_tile<Tile2>(plan, forced);
    case 4:
      if (is_narrow<NarrowTile4>(plan.job))
        return plan_tile<NarrowTile4>(plan, forced, CudaPlan::Form::narrow);
      if (is_flat(plan.job)) return plan_tile<FlatTile4>(plan, forced, CudaPlan::Form::flat);
      return plan_tile<Tile4>(plan, forced);
    case 8:
      return plan_tile<Tile8>(plan, forced);
    case 16:
      return plan_tile<Tile16>(plan, forced);
    default:
      return false;
  }
}

bool plan_shifted(CudaPlan& plan, bool forced) {
  constexpr auto kKernel = CudaPlan::Kernel::shifted;
  switch (plan.job.element_bytes) {
    case 1:
      return plan_halo_tile<Shifted1>(plan, forced, 1, kKernel);
    case 2:
      return plan_halo_tile<Shifted2>(plan, forced, 1, kKernel);
    case 4:
      if (is_narrow<NarrowShifted4>(plan.job))
        return plan_halo_tile<NarrowShifted4>(plan, forced, 4, kKernel, CudaPlan::Form::narrow);
      return plan_halo_tile<Shifted4>(plan, forced, 4, kKernel);
    case 8:
      return plan_halo_tile<Shifted8>(plan, forced, 8, kKernel);
    default:
      return false;
  }
}

bool plan_pixels(CudaPlan& plan, bool forced) {
  constexpr auto kKernel = CudaPlan::Kernel::pixels;
  switch (plan.job.element_bytes) {
    case 3:
      return plan_halo_tile<Pixel3>(plan, forced, Pixel3::kUnit, kKernel);
    case 6:
      return plan_halo_tile<Pixel6>(plan, forced, Pixel6::kUnit, kKernel);
    case 12:
      return plan_halo_tile<Pixel12>(plan, forced, Pixel12::kUnit, kKernel);
    default:
      return false;
  }
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

/// Sets distances that are not used to those of dense matrices.
Job with_dense_unused_distances(Job job) {
  if (job.rows == 1) job.in_pitch = job.cols * job.element_bytes;
  if (job.cols == 1) job.out_pitch = job.rows * job.element_bytes;
  if (job.items == 1) job.in_item = job.out_item = job.rows * job.cols * job.element_bytes;
  return job;
}

/// One step of simplified(). Returns whether the job was changed.
bool simplify(Job& job) {
  const std::int64_t element_bytes = job.element_bytes;
  if (job.rows == 1 && job.cols > 1 && job.out_pitch == element_bytes) {  // a run
    job.element_bytes *= job.cols;
    job.cols = 1;
  } else if (job.cols == 1 && job.rows > 1 && job.in_pitch == element_bytes) {
    job.element_bytes *= job.rows;
    job.rows = 1;
  } else if (job.items > 1 && job.in_item == job.rows * job.in_pitch &&
             job.out_item == job.rows * element_bytes) {  // stacked vertically
    job.rows *= job.items;
    job.items = 1;
  } else if (job.items > 1 && job.in_item == job.cols * element_bytes &&
             job.out_item == job.cols * job.out_pitch) {  // side by side
    job.cols *= job.items;
    job.items = 1;
  } else if (job.items > 1 && job.cols == 1 && job.in_item == element_bytes) {  // columns side by side
    job.cols = job.items;
    job.out_pitch = job.out_item;
    job.items = 1;
  } else if (job.items > 1 && job.rows == 1 &&
             job.out_item == element_bytes) {  // rows that become columns side by side
    job.rows = job.items;
    job.in_pitch = job.in_item;
    job.items = 1;
  } else {
    return false;
  }
  job = with_dense_unused_distances(job);
  return true;
}

}  // namespace

Job simplified(Job job) {
  job = with_dense_unused_distances(job);
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
    case CudaPlan::Kernel::shifted:
      plan_shifted(plan, true);
      break;
    case CudaPlan::Kernel::pixels:
      plan_pixels(plan, true);
      break;
    case CudaPlan::Kernel::comb:
      plan_tall_skinny(plan);
      break;
    case CudaPlan::Kernel::small:
      plan_small(plan);
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

/// Whether a matrix of 4-byte elements fills at least half of a 64 x 64 tile and fits into one.
bool is_half_a_tile(const Job& job) {
  return job.element_bytes == 4 && job.rows <= Tile4::kRows && job.cols <= Tile4::kCols &&
         fills_half_tile<Tile4>(job);
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
  if (plan_tile(plan, false) || plan_shifted(plan, false) || plan_pixels(plan, false)) return plan;
  const std::int64_t min_run = unit_of(job) >= 4 ? kMinRun : kMinShiftedRun;
  if (job.element_bytes >= min_run && plan_runs(plan)) return plan;
  if (job.items > 1 && plan_small(plan)) return plan;
  // If a matrix fits into one tile, sectors need not be written whole: the same block writes the other part.
  if (job.items > 1 && is_half_a_tile(job) && plan_tile<LightTile4>(plan, true, CudaPlan::Form::light))
    return plan;
  // Tiles of the tall-skinny kernel are long; for shorter matrices they would be mostly empty.
  if (plan_tall_skinny(plan) &&
      2 * plan.comb.long_row_bytes() >= 16 * static_cast<std::int64_t>(plan.comb.groups))
    return plan;
  plan.kernel = CudaPlan::Kernel::none;
  if (plan_staged(plan)) return plan;
  plan_runs(plan);
  return plan;
}

}  // namespace sepconv::transposing
