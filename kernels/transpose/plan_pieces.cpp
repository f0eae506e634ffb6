// Plans the CUDA kernels of transposition whose tile sizes depend on the shape. Integer arithmetic only.
#include <algorithm>
#include <bit>
#include <limits>

#include "core/geometry.hpp"
#include "kernels/transpose/tiles.hpp"

namespace sepconv::transposing {
namespace {

constexpr std::int64_t kTileBytes = 16 << 10;  // per tile: eight fit into a multiprocessor of Hopper
constexpr std::int64_t kTallSkinnyBytes =
    28 << 10;                                  // per tile of a tall-skinny matrix, with overlap at the edges
constexpr std::int64_t kMaxShared = 48 << 10;  // available to a block on every GPU
constexpr std::int64_t kMaxStaged = 8 << 10;   // maximum element size in bytes for a tile of several elements
constexpr std::int64_t kChunkBytes = 16;       // moved by a thread in one access
constexpr std::int64_t kMaxDenseRow = 256;     // bytes of a short dense row
constexpr std::int64_t kMaxSmall = 8 << 10;    // maximum matrix size in bytes for several matrices per block
constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();

/// Elements along one side of a tile: a multiple of 32 or a power of two, at most `length`.
std::int64_t side(std::int64_t capacity, std::int64_t length) {
  const std::int64_t rounded =
      capacity >= 32 ? capacity / 32 * 32
                     : static_cast<std::int64_t>(
                           std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(capacity, 1))));
  return std::min(rounded, length);
}

/// Chooses the positions of a tile's rows in shared memory, so that threads that gather an output row have
/// few bank conflicts.
void lay_out_rows(StagedJob& staged, std::int64_t words_per_piece) {
  const std::int64_t word = std::max(4, staged.unit_bytes);
  const std::int64_t element = staged.job.element_bytes;
  std::int64_t row_bytes = words_per_piece * word;
  if (row_bytes >= 128 && element < 128) {
    // Consecutive elements of an output row are then in consecutive banks.
    while (row_bytes % 128 != round_up(element, word) % 128) row_bytes += word;
  } else if ((row_bytes / word) % 2 == 0) {
    row_bytes += word;
  }
  staged.row_bytes = static_cast<std::int32_t>(row_bytes);
  // A thread gathers four or two of these elements: its neighbour starts that many rows later.
  if (element <= 2) staged.rows_per_skew_log2 = element == 1 ? 2 : 1;
  const std::int64_t skew = ((staged.tile_rows - 1) >> staged.rows_per_skew_log2) * 4;
  staged.item_bytes = static_cast<std::int32_t>(staged.tile_rows * row_bytes + skew);
}

/// Computes all fields that depend on the tile's size.
void lay_out(StagedJob& staged) {
  const Job& job = staged.job;
  const std::int64_t word = std::max(4, staged.unit_bytes);
  const std::int64_t slack = staged.unit_bytes < 4 ? 3 : 0;  // a piece may begin at any byte of a word
  const std::int64_t element_bytes = job.element_bytes;
  const std::int64_t matrix_bytes = staged.tile_rows * staged.tile_cols * element_bytes;
  const bool rows_joined =
      staged.tile_cols == job.cols && (job.in_pitch == job.cols * element_bytes || job.rows == 1);
  const bool in_joined =
      rows_joined && staged.tile_rows == job.rows && job.in_item == job.rows * job.cols * element_bytes;
  const bool cols_joined =
      staged.tile_rows == job.rows && (job.out_pitch == job.rows * element_bytes || job.cols == 1);
  const bool out_joined =
      cols_joined && staged.tile_cols == job.cols && job.out_item == job.rows * job.cols * element_bytes;
  const auto words = [&](std::int64_t bytes) { return ceil_div(bytes + slack, word); };

  staged.in_pieces_per_item = Divisor(rows_joined ? 1 : staged.tile_rows);
  staged.in_pieces =
      in_joined ? 1 : staged.tile_items * static_cast<std::int32_t>(staged.in_pieces_per_item.value);
  const std::int64_t in_words = words(in_joined     ? staged.tile_items * matrix_bytes
                                      : rows_joined ? matrix_bytes
                                                    : staged.tile_cols * element_bytes);
  staged.in_words_per_piece = Divisor(in_words);
  staged.out_pieces_per_item = Divisor(cols_joined ? 1 : staged.tile_cols);
  staged.out_pieces =
      out_joined ? 1 : staged.tile_items * static_cast<std::int32_t>(staged.out_pieces_per_item.value);
  staged.out_words_per_piece = Divisor(words(out_joined    ? staged.tile_items * matrix_bytes
                                             : cols_joined ? matrix_bytes
                                                           : staged.tile_rows * element_bytes));
  staged.element = Divisor(element_bytes);
  staged.rows = Divisor(staged.tile_rows);
  staged.cols = Divisor(staged.tile_cols);

  staged.rows_per_skew_log2 = staged.bytes_per_pad_log2 = 31;
  std::int64_t staged_bytes = 0;
  if (!rows_joined) {
    lay_out_rows(staged, in_words);
    staged_bytes = std::int64_t{staged.tile_items} * staged.item_bytes;
  } else {
    // The same layout as in memory, with a word of padding every 128 bytes, which breaks up power-of-two
    // distances.
    staged.bytes_per_pad_log2 = 7;
    staged.row_bytes = static_cast<std::int32_t>(staged.tile_cols * element_bytes);
    staged.item_bytes = static_cast<std::int32_t>(in_joined ? matrix_bytes : in_words * word);
    staged_bytes = in_joined ? in_words * word : staged.tile_items * std::int64_t{staged.item_bytes};
    staged_bytes += (staged_bytes / 128 + 1) * word;
  }
  staged.shared_bytes = static_cast<std::int32_t>(staged_bytes + word);
}

/// Whether all rows of one side begin at a chunk boundary; the rows of the dense side form one piece.
bool rows_are_chunks(const std::byte* data, std::int64_t pitch, std::int64_t item, std::int64_t rows,
                     std::int64_t items) {
  auto bits = reinterpret_cast<std::uintptr_t>(data);
  if (rows > 1) bits |= static_cast<std::uintptr_t>(pitch);
  if (items > 1) bits |= static_cast<std::uintptr_t>(item);
  return bits % kChunkBytes == 0;
}

/// Unit in which elements are copied through shared memory; 0 if the kernels do not support this size and
/// alignment.
std::int64_t word_unit(const Job& job) {
  const std::int64_t element_bytes = job.element_bytes;
  const std::int64_t unit = std::min<std::int64_t>(unit_of(job), 4);
  const bool is_supported = element_bytes == 1 || element_bytes == 2 || element_bytes == 3 ||
                            element_bytes == 4 || element_bytes == 6 || element_bytes == 8 ||
                            element_bytes == 12 || element_bytes == 16;
  const std::int64_t widest = element_bytes % 4 == 0 ? 4 : element_bytes % 2 == 0 ? 2 : 1;
  return is_supported && (unit == widest || element_bytes == 2) ? unit : 0;
}

/// Decides whether a block transposes small matrices by micro tiles, and by how many.
void plan_micro_tiles(SmallJob& small) {
  const Job& job = small.job;
  const std::int64_t micro = 4 / std::min<std::int64_t>(job.element_bytes, 4);
  const bool words =
      (reinterpret_cast<std::uintptr_t>(job.in) | reinterpret_cast<std::uintptr_t>(job.out)) % 4 == 0;
  small.micro = micro > 1 && words && job.rows % micro == 0 && job.cols % micro == 0;
  if (!small.micro) return;
  small.micros = Divisor(job.rows / micro * (job.cols / micro));
  small.micro_cols = Divisor(job.cols / micro);
}

}  // namespace

bool plan_tall_skinny(CudaPlan& plan) {
  TallSkinnyJob& comb = plan.comb;
  comb.job = plan.job;
  const Job& job = comb.job;
  const std::int64_t element_bytes = job.element_bytes;
  if ((element_bytes & (element_bytes - 1)) != 0 || unit_of(job) < element_bytes) return false;
  comb.rows_dense = job.in_pitch == job.cols * element_bytes &&
                    (job.cols <= job.rows || job.out_pitch != job.rows * element_bytes);
  if (!comb.rows_dense && job.out_pitch != job.rows * element_bytes) return false;
  const std::int64_t short_side = comb.rows_dense ? job.cols : job.rows;
  const std::int64_t row_bytes = short_side * element_bytes;
  if (row_bytes > kMaxDenseRow) return false;
  comb.row_bytes = static_cast<std::uint32_t>(row_bytes);
  comb.chunks = Divisor(short_side);
  comb.row_quads = Divisor(ceil_div(short_side, 4));
  const std::int64_t chunks = ceil_div((comb.rows_dense ? job.rows : job.cols) * element_bytes, kChunkBytes);
  // The dense side is one piece. Its reads may begin at any byte.
  const std::int64_t pieces = comb.rows_dense ? job.cols : 1;  // output pieces
  bool aligned = rows_are_chunks(job.out, job.out_pitch, job.out_item, pieces, job.items);
  if (!comb.rows_dense) aligned &= rows_are_chunks(job.in, job.in_pitch, job.in_item, job.rows, job.items);
  comb.shifted = !aligned;
  const bool is_supported =
      element_bytes < 16 && short_side >= 2 && short_side <= (aligned ? kMaxPlanes : kMaxShiftedPlanes);
  comb.planes = is_supported ? static_cast<std::int32_t>(short_side) : 0;
  // Elements below 4 bytes, and scattered ones, are faster with fewer and larger tiles.
  const std::int64_t tile_bytes = comb.rows_dense && element_bytes >= 4 ? kTileBytes : kTallSkinnyBytes;
  const std::int64_t groups =
      is_supported ? kPlanesThreads - (comb.shifted ? 1 : 0)
                   : std::max<std::int64_t>(tile_bytes / (short_side * kChunkBytes) / 8, 1) * 8;
  comb.groups = static_cast<std::uint32_t>(groups);
  comb.shared_bytes =
      is_supported ? 0 : static_cast<std::int32_t>((groups + 1) * (short_side | 1) * kChunkBytes);
  // Long rows that begin before a chunk boundary may end one chunk later.
  const std::int64_t tiles = ceil_div(chunks + (comb.rows_dense && comb.shifted ? 1 : 0), groups);
  if (comb.shared_bytes > kMaxShared || tiles > kMaxBlocks / job.items) return false;
  comb.tiles = static_cast<std::uint32_t>(tiles);
  plan.kernel = CudaPlan::Kernel::comb;
  return true;
}

bool plan_small(CudaPlan& plan) {
  SmallJob& small = plan.small;
  small.job = plan.job;
  const Job& job = small.job;
  const std::int64_t element_bytes = job.element_bytes;
  const std::int64_t matrix = job.rows * job.cols;
  small.unit_bytes = static_cast<std::int32_t>(word_unit(job));
  if (small.unit_bytes == 0 || matrix > kMaxSmall / element_bytes) return false;
  if (job.in_pitch != job.cols * element_bytes || job.out_pitch != job.rows * element_bytes ||
      job.in_item != matrix * element_bytes || job.out_item != matrix * element_bytes)
    return false;
  plan_micro_tiles(small);
  // With micro tiles, shared memory contains each matrix twice.
  std::int64_t items =
      std::max<std::int64_t>((small.micro ? kTileBytes / 2 : kTileBytes) / (matrix * element_bytes), 1);
  if (items * matrix * element_bytes % 16 != 0 && items >= 32)
    items -= items % 16;  // blocks begin at a sector boundary
  items = std::min(items, job.items);
  small.tile_items = static_cast<std::int32_t>(items);
  small.blocks = ceil_div(job.items, items);
  if (small.blocks > kMaxBlocks) return false;
  small.matrix = Divisor(matrix);
  small.rows = Divisor(job.rows);
  small.cols = static_cast<std::uint32_t>(job.cols);
  const std::int64_t bytes = items * matrix * element_bytes + 8;
  small.shared_bytes =
      static_cast<std::int32_t>(round_up(bytes + bytes / 32 + 8, 16) * (small.micro ? 2 : 1));
  plan.kernel = CudaPlan::Kernel::small;
  return true;
}

bool plan_staged(CudaPlan& plan) {
  StagedJob& staged = plan.staged;
  staged.job = plan.job;
  const Job& job = staged.job;
  const std::int64_t element_bytes = job.element_bytes;
  if (element_bytes > kMaxStaged) return false;
  staged.unit_bytes = static_cast<std::int32_t>(unit_of(job));
  for (std::int64_t capacity = std::max<std::int64_t>(kTileBytes / element_bytes, 1);; capacity /= 2) {
    const auto square = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(capacity)));
    const std::int64_t square_side = std::int64_t{1}
                                     << (std::bit_width(static_cast<std::uint64_t>(square)) - 1) / 2;
    std::int64_t cols = side(square_side, job.cols);
    const std::int64_t rows = side(capacity / cols, job.rows);
    if (rows < square_side) cols = side(capacity / rows, job.cols);
    staged.tile_rows = static_cast<std::int32_t>(rows);
    staged.tile_cols = static_cast<std::int32_t>(cols);
    staged.tile_items =
        static_cast<std::int32_t>(std::min(job.items, std::max<std::int64_t>(capacity / (rows * cols), 1)));
    lay_out(staged);
    if (staged.shared_bytes <= 2 * kTileBytes || capacity == 1) break;
  }
  if (staged.shared_bytes > kMaxShared) return false;
  if (!tiles_fit(job, staged.tile_items, staged.tile_rows, staged.tile_cols)) return false;
  staged.job.grid = grid_of(job, staged.tile_items, staged.tile_rows, staged.tile_cols);
  plan.kernel = CudaPlan::Kernel::staged;
  return true;
}

bool plan_runs(CudaPlan& plan) {
  RunsJob& runs = plan.runs;
  runs.job = plan.job;
  const Job& job = runs.job;
  const std::int64_t element_bytes = job.element_bytes;
  const std::int64_t unit = unit_of(job);
  runs.unit_bytes = static_cast<std::int32_t>(unit);
  runs.segment_bytes = static_cast<std::int32_t>(std::min(element_bytes, kTileBytes));
  runs.segments = static_cast<std::uint32_t>(ceil_div(element_bytes, runs.segment_bytes));
  const std::int64_t capacity = std::max<std::int64_t>(kTileBytes / element_bytes, 1);
  const std::int64_t rows = std::min(capacity, job.rows);
  const std::int64_t cols = std::min(capacity / rows, job.cols);
  runs.tile_rows = static_cast<std::int32_t>(rows);
  runs.tile_cols = static_cast<std::int32_t>(cols);
  runs.units_per_run =
      Divisor(unit < 4 ? (runs.segment_bytes + 30) / kChunkBytes : runs.segment_bytes / unit);
  runs.rows = Divisor(rows);
  if (job.items > kMaxBlocks / runs.segments) return false;
  Job counted = job;
  counted.items *= runs.segments;
  if (!tiles_fit(counted, 1, rows, cols)) return false;
  runs.job.grid = grid_of(job, 1, rows, cols);
  runs.job.grid.items *= runs.segments;
  plan.kernel = CudaPlan::Kernel::runs;
  return true;
}

}  // namespace sepconv::transposing
