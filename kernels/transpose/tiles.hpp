// What the CUDA kernels of transposition are told: tiles, their order, and descriptions of the work. Plain
// C++, for the planner and tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sepconv/kernels/transpose/transpose.hpp"

namespace sepconv::transposing {

/// A tile of the kernel for elements of 1, 2, 4, 8 and 16 bytes, counted in words: elements of 1 and 2 bytes
/// are moved as words of 4 bytes, and micro tiles of 4 x 4 or 2 x 2 of them are transposed in registers. A
/// block reads runs of InWords words and writes runs of OutWords. In shared memory the words lie transposed,
/// in kMicro planes of InWords x kPitch, one word of padding a row: an odd pitch, so that a warp that writes
/// down a column meets no bank twice.
template <int ElementBytes, int InWords, int OutWords, int Threads>
struct TileShape {
  static constexpr int kElementBytes = ElementBytes;
  static constexpr int kWordBytes = ElementBytes < 4 ? 4 : ElementBytes;
  static constexpr int kMicro = kWordBytes / ElementBytes;
  static constexpr int kInWords = InWords;
  static constexpr int kOutWords = OutWords;
  static constexpr int kThreads = Threads;
  static constexpr int kPitch = OutWords + 1;
  static constexpr int kRows = OutWords * kMicro;  ///< elements, of the input
  static constexpr int kCols = InWords * kMicro;
  static constexpr int kSharedBytes = kMicro * InWords * kPitch * kWordBytes;
};

/// The tiles in use.
using Tile1 = TileShape<1, 32, 32, 256>;
using Tile2 = TileShape<2, 64, 64, 512>;
using Tile4 = TileShape<4, 64, 64, 256>;
using Tile8 = TileShape<8, 32, 32, 256>;
using Tile16 = TileShape<16, 32, 32, 256>;

/// The tiles of all items and the order in which running numbers go through them: within bands of band_rows x
/// band_cols tiles, which follow one another along the input's rows; all items of a band in turn where
/// `items_inside`, else all bands of an item. Blocks with neighbouring numbers run at the same time.
struct TileGrid {
  std::uint32_t items = 1, rows = 1, cols = 1;  ///< tiles; their product is below 2^31
  std::uint32_t band_rows = 1, band_cols = 1;
  std::uint32_t items_inside = 0;
  std::uint32_t rows_first = 1;  ///< within a band: along the input's columns, which are the output's rows

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(items) * rows * cols; }
};

/// Matrices on the device, with distances in bytes.
struct Job {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::int64_t in_pitch = 0, in_item = 0;
  std::int64_t out_pitch = 0, out_item = 0;
  std::int64_t items = 1, rows = 0, cols = 0;
  std::int64_t element_bytes = 1;
  TileGrid grid{};
};

/// Divides by a number that the compiler does not know: exact while dividend * divisor < 2^32.
struct Divisor {
  explicit Divisor(std::int64_t divisor = 1)
      : value(static_cast<std::uint32_t>(divisor)),
        factor(divisor == 1 ? 0
                            : static_cast<std::uint32_t>(((std::int64_t{1} << 32) + divisor - 1) / divisor)) {
  }
  std::uint32_t value;
  std::uint32_t factor;  ///< 0 for 1
};

/// The kernel for elements of any size and alignment, and for matrices that are short or small: a block
/// brings a tile of tile_items x tile_rows x tile_cols elements into shared memory as it lies, and gathers
/// the output's words from there. A piece is a run of bytes of the tile without a gap: a row, an item whose
/// rows follow one another, or all items.
struct StagedJob {
  Job job;
  std::int32_t unit_bytes = 1;  ///< 1, 2, 4, 8 or 16: divides the element and all distances and addresses
  std::int32_t tile_items = 1, tile_rows = 1, tile_cols = 1;
  std::int32_t in_pieces = 1;  ///< of a whole tile
  std::int32_t out_pieces = 1;
  Divisor in_pieces_per_item, in_words_per_piece;  ///< words of max(4, unit_bytes)
  Divisor out_pieces_per_item, out_words_per_piece;
  Divisor element, rows, cols;                 ///< bytes of an element, elements of a tile
  std::int32_t row_bytes = 0, item_bytes = 0;  ///< distances in shared memory
  std::int32_t row_skew_shift = 31;            ///< every 2^this rows a word is left out
  std::int32_t pad_shift = 31;                 ///< every 2^this bytes a word is left out
  std::int32_t shared_bytes = 0;
};

/// The kernel for elements that are long runs: a tile of tile_rows x tile_cols of them, or a segment of one,
/// goes from memory to memory.
struct RunsJob {
  Job job;  ///< grid.items counts items * segments
  std::int32_t unit_bytes = 1;
  std::int32_t tile_rows = 1, tile_cols = 1;
  std::int32_t segment_bytes = 0;
  std::uint32_t segments = 1;
  Divisor units_per_run, rows;  ///< of a segment; of a tile
};

/// What transpose_cuda does for a shape.
struct CudaPlan {
  enum class Kernel : std::uint8_t { none, copy, tile, staged, runs };
  Kernel kernel = Kernel::none;
  Job job;
  StagedJob staged;
  RunsJob runs;
};

/// Equivalent work in fewer, larger pieces: items that follow one another as rows or columns of one matrix
/// become one matrix, and elements that stay together become one element.
Job simplified(Job job);

/// Looks at sizes, distances and addresses only; touches no device.
CudaPlan plan_transpose(const TransposeShape& shape, ConstMatrices in, Matrices out);

/// The plan of one of the kernels, for tests and measurements; Kernel::none where it cannot do the work.
CudaPlan plan_transpose(CudaPlan::Kernel kernel, const TransposeShape& shape, ConstMatrices in, Matrices out);

}  // namespace sepconv::transposing
