// Parameters of the CUDA transposition kernels: tiles, their order, and descriptions of the work. Plain C++,
// for the planner and tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/transpose/transpose.hpp"

namespace sepconv::transposing {

/// A tile of the kernel for elements of 1, 2, 4, 8 and 16 bytes, measured in words: elements of 1 and 2 bytes
/// are moved as words of 4 bytes, and micro tiles of 4 x 4 or 2 x 2 of them are transposed in registers. A
/// block reads runs of InWords words and writes runs of OutWords. In shared memory the words are stored
/// transposed, in kMicro planes of InWords x kPitch with one word of padding per row: the odd pitch avoids
/// bank conflicts when a warp writes a column.
template <int ElementBytes, int InWords, int OutWords, int Threads>
struct TileShape {
  static constexpr int kElementBytes = ElementBytes;
  static constexpr int kWordBytes = ElementBytes < 4 ? 4 : ElementBytes;
  static constexpr int kMicro = kWordBytes / ElementBytes;
  static constexpr int kInWords = InWords;
  static constexpr int kOutWords = OutWords;
  static constexpr int kThreads = Threads;
  static constexpr int kPitch = OutWords + 1;
  static constexpr int kRows = OutWords * kMicro;  ///< elements of the input
  static constexpr int kCols = InWords * kMicro;
  static constexpr int kSharedBytes = kMicro * InWords * kPitch * kWordBytes;
};

/// The tiles that are used.
using Tile1 = TileShape<1, 32, 64, 512>;
using Tile2 = TileShape<2, 64, 64, 512>;
using Tile4 = TileShape<4, 64, 64, 256>;
using Tile8 = TileShape<8, 32, 32, 256>;
using Tile16 = TileShape<16, 32, 32, 256>;
/// For many matrices that fit into one tile each: fewer threads idle.
using LightTile4 = TileShape<4, 64, 64, 128>;
/// For matrices of about 32 columns or rows, which would leave half of a square tile idle.
using NarrowTile4 = TileShape<4, 32, 128, 256>;
using FlatTile4 = TileShape<4, 128, 32, 256>;

/// Elements before a tile in shared memory if output rows are unaligned: a sector of 32 bytes, rounded to a
/// multiple of 4.
template <int ElementBytes>
inline constexpr int kHaloOf = (32 + ElementBytes - 1) / ElementBytes + (ElementBytes == 3 ? 1 : 0);

/// A tile of the kernel for unaligned rows (elements of 1, 2, 4, 8 bytes). The part of an output row that a
/// block stores begins at a sector boundary, up to 31 bytes before the tile, so the block loads kHalo more
/// rows. Across: number of warp-wide loads per input row. If bytes are shifted, a warp loads 32 words for 31
/// results.
template <int ElementBytes, int Across, int OutWords, int Threads>
struct ShiftedTile {
  static constexpr int kElementBytes = ElementBytes;
  static constexpr int kWordBytes = ElementBytes < 4 ? 4 : ElementBytes;
  static constexpr int kMicro = kWordBytes / ElementBytes;
  static constexpr int kUsedLanes = ElementBytes < 4 ? 31 : 32;
  static constexpr int kAcross = Across;
  static constexpr int kInWords = kUsedLanes * Across;
  static constexpr int kOutWords = OutWords;
  static constexpr int kThreads = Threads;
  static constexpr int kHalo = kHaloOf<ElementBytes>;
  static constexpr int kLoadRows = OutWords + kHalo / kMicro;  ///< rows of micro tiles
  static constexpr int kPitch = kLoadRows + 1;
  static constexpr int kRows = OutWords * kMicro;
  static constexpr int kCols = kInWords * kMicro;
  static constexpr int kSharedBytes = kMicro * kInWords * kPitch * kWordBytes;
  static_assert(kLoadRows % (Threads / 32) == 0 && OutWords % 32 == 0 && kPitch % 2 == 1);
};
using Shifted1 = ShiftedTile<1, 1, 64, 256>;
using Shifted2 = ShiftedTile<2, 2, 64, 256>;
using Shifted4 = ShiftedTile<4, 2, 128, 256>;
using Shifted8 = ShiftedTile<8, 1, 64, 128>;
using NarrowShifted4 = ShiftedTile<4, 1, 128, 256>;  ///< as NarrowTile4

/// A tile for elements of 3, 6 and 12 bytes, moved in units of Unit bytes. 96 words of an input row are
/// loaded; up to two are spare if rows are shifted. The pitch in shared memory, in words, is odd, so that
/// threads along a column have few bank conflicts. For elements of three words it is a multiple of 32 plus 3,
/// so that consecutive elements are in consecutive banks.
template <int ElementBytes, int Unit, int Rows, int Threads>
struct PixelTile {
  static constexpr int kElementBytes = ElementBytes;
  static constexpr int kUnit = Unit;
  static constexpr int kThreads = Threads;
  static constexpr int kAcross = 3;
  static constexpr int kInWords = 96;
  static constexpr int kCols = (Unit < 4 ? 372 : 384) / ElementBytes;
  static constexpr int kRows = Rows;
  static constexpr int kHalo = kHaloOf<ElementBytes>;
  static constexpr int kLoadRows = Rows + kHalo;
  static constexpr int kPitch = kInWords + (Unit == 4 ? 3 : 1);
  static constexpr int kOutWords = Rows * ElementBytes / 4;
  static constexpr int kSharedBytes = (kLoadRows * kPitch + 1) * 4;
  static_assert(Rows * ElementBytes % 32 == 0 && Threads % kOutWords == 0 && Threads % 32 == 0);
};
using Pixel3 = PixelTile<3, 1, 64, 192>;
using Pixel6 = PixelTile<6, 2, 64, 192>;
using Pixel12 = PixelTile<12, 4, 64, 192>;

/// The tiles of all items and their linear order: within bands of band_rows x band_cols tiles, which are
/// ordered along the input's rows. With `items_within_band`, the order is: all items of a band, then the next
/// band; otherwise: all bands of an item, then the next item. Blocks with consecutive numbers run at the same
/// time.
struct TileGrid {
  std::uint32_t items = 1, rows = 1, cols = 1;  ///< numbers of tiles; their product is below 2^31
  std::uint32_t band_rows = 1, band_cols = 1;
  std::uint32_t items_within_band = 0;
  std::uint32_t rows_first = 1;  ///< order within a band: along the input's columns (the output's rows)

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(items) * rows * cols; }
};

/// The matrices on the device, with distances in bytes.
struct Job {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::int64_t in_pitch = 0, in_item = 0;
  std::int64_t out_pitch = 0, out_item = 0;
  std::int64_t items = 1, rows = 0, cols = 0;
  std::int64_t element_bytes = 1;
  TileGrid grid{};
};

/// Division by a runtime constant by multiplication: exact while dividend * divisor < 2^32.
struct Divisor {
  explicit Divisor(std::int64_t divisor = 1)
      : value(static_cast<std::uint32_t>(divisor)),
        factor(divisor == 1 ? 0
                            : static_cast<std::uint32_t>(((std::int64_t{1} << 32) + divisor - 1) / divisor)) {
  }
  std::uint32_t value;
  std::uint32_t factor;  ///< 0 if the divisor is 1
};

/// Matrices that are short and dense in one direction and long in the other. A group consists of one 16-byte
/// chunk of every long row; it has as many chunks on the dense side as there are long rows.
struct TallSkinnyJob {
  Job job;
  bool rows_dense = true;    ///< the input's rows are dense (few columns); otherwise the output's (few rows)
  std::int32_t planes = 0;   ///< number of long rows as a compile-time constant of the kernel; 0: any number
  bool shifted = false;      ///< planes or output rows do not all begin at a chunk boundary
  std::uint32_t groups = 8;  ///< per tile, a multiple of 8
  std::uint32_t tiles = 1;   ///< per item
  std::uint32_t row_bytes = 1;  ///< bytes of a dense row
  Divisor chunks;               ///< per group
  Divisor row_quads;            ///< groups of four long rows; the last may be incomplete
  std::int32_t shared_bytes = 0;

  std::int64_t blocks() const noexcept { return job.items * tiles; }
  std::int64_t long_row_bytes() const noexcept {
    return (rows_dense ? job.rows : job.cols) * job.element_bytes;
  }
};
/// Threads of a block with a constant number of planes, one group each; and the maximum numbers of planes.
constexpr std::int32_t kPlanesThreads = 128;
constexpr std::int32_t kMaxPlanes = 8;
constexpr std::int32_t kMaxShiftedPlanes = 4;

/// Many small matrices, contiguous on both sides.
struct SmallJob {
  Job job;
  std::int32_t unit_bytes = 1;  ///< as in StagedJob
  std::int32_t tile_items = 1;  ///< matrices per block
  std::int64_t blocks = 0;
  Divisor matrix, rows;  ///< elements
  std::uint32_t cols = 1;
  bool micro = false;          ///< micro tiles are transposed in registers
  Divisor micros, micro_cols;  ///< micro tiles per matrix, and along its rows
  std::int32_t shared_bytes = 0;
};

/// The kernel for elements of any size and alignment, and for matrices that are short or small: a block
/// copies a tile of tile_items x tile_rows x tile_cols elements into shared memory unchanged and gathers the
/// output's words from there. A piece is a contiguous run of bytes of the tile: a row, an item with
/// contiguous rows, or all items.
struct StagedJob {
  Job job;
  std::int32_t unit_bytes = 1;  ///< 1, 2, 4, 8 or 16: divides the element and all distances and addresses
  std::int32_t tile_items = 1, tile_rows = 1, tile_cols = 1;
  std::int32_t in_pieces = 1;  ///< per whole tile
  std::int32_t out_pieces = 1;
  Divisor in_pieces_per_item, in_words_per_piece;  ///< words of max(4, unit_bytes)
  Divisor out_pieces_per_item, out_words_per_piece;
  Divisor element, rows, cols;                 ///< bytes of an element, elements of a tile
  std::int32_t row_bytes = 0, item_bytes = 0;  ///< distances in shared memory
  std::int32_t rows_per_skew_log2 = 31;        ///< a word of padding every 2^this rows
  std::int32_t bytes_per_pad_log2 = 31;        ///< a word of padding every 2^this bytes
  std::int32_t shared_bytes = 0;
};

/// The kernel for elements that are long runs: a tile of tile_rows x tile_cols runs, or a segment of one, is
/// copied directly within device memory.
struct RunsJob {
  Job job;                      ///< grid.items counts items * segments
  std::int32_t unit_bytes = 1;  ///< below 4: chunks of 16 bytes of the output, shifted into place
  std::int32_t tile_rows = 1, tile_cols = 1;
  std::int32_t segment_bytes = 0;
  std::uint32_t segments = 1;
  Divisor units_per_run, rows;  ///< per segment; per tile
};

/// The kernel that transpose_device launches for a shape, and its parameters.
struct CudaPlan {
  enum class Kernel : std::uint8_t { none, copy, tile, shifted, pixels, comb, small, staged, runs };
  /// Shape of a tile: narrow in the input, flat, or with few threads.
  enum class Form : std::uint8_t { square, narrow, flat, light };
  Kernel kernel = Kernel::none;
  Form form = Form::square;
  Job job;
  TallSkinnyJob comb;
  SmallJob small;
  StagedJob staged;
  RunsJob runs;
};

/// The number and order of tiles; tile_items and so on in elements. `overhang`: elements by which output rows
/// extend beyond the last tile.
TileGrid grid_of(const Job& job, std::int64_t tile_items, std::int64_t tile_rows, std::int64_t tile_cols,
                 std::int64_t overhang = 0);
/// Whether the number of tiles is within the limit of a launch.
bool tiles_fit(const Job& job, std::int64_t tile_items, std::int64_t tile_rows, std::int64_t tile_cols,
               std::int64_t overhang = 0);
/// The largest of 1, 2, 4, 8, 16 that divides the element size and all used addresses and distances.
std::int64_t unit_of(const Job& job);

/// Fill in one kernel's part of a plan whose job is set. Return whether that kernel supports the work.
bool plan_staged(CudaPlan& plan);
bool plan_runs(CudaPlan& plan);
bool plan_tall_skinny(CudaPlan& plan);
bool plan_small(CudaPlan& plan);

/// Returns equivalent work in fewer, larger pieces: items that are adjacent as rows or columns of one matrix
/// become one matrix, and elements that stay together become one element.
Job simplified(Job job);

/// Chooses the kernel from sizes, distances and addresses; does not access a device.
CudaPlan plan_transpose(const TransposeShape& shape, ConstMatrices in, Matrices out);

/// The plan for a given kernel, for tests and measurements; Kernel::none if it does not support the work.
CudaPlan plan_transpose(CudaPlan::Kernel kernel, const TransposeShape& shape, ConstMatrices in, Matrices out);

}  // namespace sepconv::transposing
