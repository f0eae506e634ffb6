// Transposition of tiles in vector registers, in blocks of 16 bytes per row. Included once per Highway
// target.
#if defined(SEPCONV_TRANSPOSE_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_TRANSPOSE_BLOCKS_INL_H
#undef SEPCONV_TRANSPOSE_BLOCKS_INL_H
#else
#define SEPCONV_TRANSPOSE_BLOCKS_INL_H
#endif

#include "kernels/simd/register_transpose-inl.h"
#include "kernels/transpose/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

/// How the transposed vectors of a block are stored.
enum class BlockStores {
  plain,        ///< whole vectors, unaligned
  past_caches,  ///< non-temporal stores of whole cache lines
  few,          ///< as plain, but only the first `cols` columns
  parts,        ///< an element occupies the first bytes of its lane; the other bytes are dropped
};

/// Copies of a few rows of a tile, stored contiguously. In the caller's memory, rows whose distance is a
/// power of two compete for the few ways of a cache set. 16-byte reads may start at any byte of a row.
struct PackedRows {
  static constexpr std::int64_t kRun = 256;
  static constexpr std::int64_t kPitch = kRun + 64;
  alignas(64) std::byte bytes[64 * kPitch];

  /// Copies rows [first, first + rows): `count` bytes from byte `begin`, at most kRun.
  HWY_INLINE void load(const Tile& tile, std::int64_t first, std::int64_t rows, std::int64_t begin,
                       std::int64_t count) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::byte* const from = tile.row(first + row) + begin;
      std::byte* const to = bytes + row * kPitch;
      if (count == kRun) {
        std::memcpy(to, from, kRun);
      } else {
        copy_some(from, count, to);
      }
    }
  }
};

/// The columns in 16 bytes of as many rows as a vector has lanes.
template <class D>
struct Block {
  using T = hn::TFromD<D>;
  static constexpr int kSide = square_side<D>();
  std::int64_t to_pitch = 0;
  std::int64_t cols = kSide;                 ///< for BlockStores::few
  std::int64_t part_bytes = 0;               ///< for BlockStores::parts: bytes of kSide elements
  alignas(16) std::uint8_t spread[16] = {};  ///< for BlockStores::parts: shuffle from elements to lanes
  alignas(16) std::uint8_t gather[16] = {};  ///< the inverse of `spread`

  void set_parts(std::int64_t element_bytes) {
    part_bytes = kSide * element_bytes;
    for (std::int64_t lane = 0, part = 0; lane < kSide; ++lane) {
      for (std::int64_t byte = 0; byte < element_bytes; ++byte, ++part) {
        const std::int64_t position = lane * std::int64_t(sizeof(T)) + byte;
        spread[position] = std::uint8_t(part);
        gather[part] = std::uint8_t(position);
      }
    }
  }
};

/// Stores 16-byte block k of the vector at to + k * block_pitch, in ascending order.
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, std::byte* to, std::int64_t block_pitch) {
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    hn::StoreU(v, d, reinterpret_cast<T*>(to));
  } else {
    const hn::Half<D> half;
    const auto halves = std::int64_t(hn::MaxLanes(half) * sizeof(T) / 16);
    store_blocks(half, hn::LowerHalf(half, v), to, block_pitch);
    store_blocks(half, hn::UpperHalf(half, v), to + halves * block_pitch, block_pitch);
  }
}

template <class D>
HWY_INLINE hn::Vec<D> shuffle_bytes(D d, hn::Vec<D> v, const std::uint8_t* order) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, v), hn::LoadDup128(bytes, order)));
}

/// Transposes one block. The 16-byte blocks of a vector contain rows that are a square's side apart, so the
/// transposed vectors contain whole columns.
template <BlockStores kStores, class D>
HWY_INLINE void stage_block(D d, const Block<D>& block, const std::byte* from, std::int64_t from_pitch,
                            std::byte* to) {
  using T = hn::TFromD<D>;
  constexpr int kSide = Block<D>::kSide;
  hn::Vec<D> v[kSide];
  SEPCONV_UNROLL
  for (int i = 0; i < kSide; ++i) {
    v[i] = load_blocks(d, from + i * from_pitch, kSide * from_pitch);
    if constexpr (kStores == BlockStores::parts) v[i] = shuffle_bytes(d, v[i], block.spread);
  }
  transpose_squares(d, v);
  SEPCONV_UNROLL
  for (int i = 0; i < kSide; ++i) {
    std::byte* const row = to + i * block.to_pitch;
    if constexpr (kStores == BlockStores::past_caches) {
      hn::Stream(v[i], d, reinterpret_cast<T*>(row));
    } else if constexpr (kStores == BlockStores::parts) {
      store_blocks(d, shuffle_bytes(d, v[i], block.gather), row, block.part_bytes);
    } else if (kStores == BlockStores::plain || i < block.cols) {
      hn::StoreU(v[i], d, reinterpret_cast<T*>(row));
    }
  }
}

/// Transposes `run` bytes of each row, starting at `from`, with rows from_pitch apart.
template <BlockStores kStores, class D>
HWY_INLINE void stage_run(D d, const Block<D>& block, const std::byte* from, std::int64_t from_pitch,
                          std::int64_t run, std::int64_t element_bytes, std::byte* to) {
  if constexpr (kStores == BlockStores::few) return stage_block<kStores>(d, block, from, from_pitch, to);
  const std::int64_t step = Block<D>::kSide * element_bytes;
  const std::int64_t to_step = Block<D>::kSide * block.to_pitch;
  std::byte* to_block = to;
  std::int64_t at = 0;
  for (; at + step <= run; at += step, to_block += to_step)
    stage_block<kStores>(d, block, from + at, from_pitch, to_block);
  if (at == run) return;
  to += (run - step) / element_bytes * block.to_pitch;
  stage_block<kStores>(d, block, from + run - step, from_pitch, to);
}

/// Transposes a tile block by block. The last blocks of rows and of columns overlap their predecessors. The
/// tile needs at least one block of rows, except for BlockStores::parts, which always writes a whole block;
/// it needs one block of columns, except for BlockStores::few.
template <BlockStores kStores, int kBytes, class D>
void stage_blocks(D d, const Tile& tile) {
  constexpr bool kParts = kStores == BlockStores::parts;
  // These read 16 bytes where fewer are needed: the bytes after them must belong to the matrix, too.
  constexpr std::int64_t kOverread = kParts || kStores == BlockStores::few ? 16 : 0;
  const std::int64_t bytes = kBytes > 0 ? kBytes : tile.element_bytes;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const std::int64_t row_bytes = tile.cols * bytes;
  const std::int64_t run = std::min(row_bytes, PackedRows::kRun / bytes * bytes);
  PackedRows packed;
  Block<D> block;
  block.to_pitch = tile.staged_pitch;
  block.cols = tile.cols;
  if constexpr (kParts) block.set_parts(bytes);
  for (std::int64_t next = 0; next < tile.rows; next += lanes) {
    const std::int64_t row = std::max<std::int64_t>(0, std::min(next, tile.rows - lanes));
    const std::int64_t rows = std::min(lanes, tile.rows);
    std::byte* const to = tile.staged + row * bytes;
    if (tile.in_pitch != 0 && (row + lanes) * tile.in_pitch + kOverread <= tile.rows * tile.in_pitch) {
      stage_run<kStores>(d, block, tile.row(row), tile.in_pitch, row_bytes, bytes, to);
      continue;
    }
    prefetch_next(tile, row, rows, bytes);
    for (std::int64_t next_run = 0; next_run < row_bytes; next_run += run) {
      const std::int64_t begin = std::min(next_run, row_bytes - run);
      packed.load(tile, row, rows, begin, run);
      stage_run<kStores>(d, block, packed.bytes, PackedRows::kPitch, run, bytes,
                         to + begin / bytes * tile.staged_pitch);
    }
  }
}

/// Stores columns of fewer rows than a square has, with little or no gap between them in the result: each
/// 16-byte store writes too much, and the next column overwrites the excess. The number of columns must be
/// the number of lanes.
template <class D>
HWY_INLINE void store_columns(D d, const hn::Vec<D> (&v)[std::size_t(Block<D>::kSide)], std::byte* to,
                              std::int64_t to_pitch) {
  using T = hn::TFromD<D>;
  constexpr int kSide = Block<D>::kSide;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    SEPCONV_UNROLL
    for (int i = 0; i < kSide; ++i) hn::StoreU(v[i], d, reinterpret_cast<T*>(to + i * to_pitch));
  } else {
    const hn::Half<D> half;
    hn::Vec<hn::Half<D>> part[kSide];
    SEPCONV_UNROLL
    for (int i = 0; i < kSide; ++i) part[i] = hn::LowerHalf(half, v[i]);
    store_columns(half, part, to, to_pitch);
    SEPCONV_UNROLL
    for (int i = 0; i < kSide; ++i) part[i] = hn::UpperHalf(half, v[i]);
    store_columns(half, part, to + std::int64_t(hn::MaxLanes(half)) * to_pitch, to_pitch);
  }
}

template <class D>
void stage_few_rows(D d, const Tile& tile) {
  using T = hn::TFromD<D>;
  constexpr int kSide = Block<D>::kSide;
  const auto lanes = std::int64_t(hn::Lanes(d));
  for (std::int64_t next = 0; next < tile.cols; next += lanes) {
    const std::int64_t col = std::min(next, tile.cols - lanes);
    hn::Vec<D> v[kSide];
    SEPCONV_UNROLL
    for (int i = 0; i < kSide; ++i) {
      v[i] = hn::LoadU(d, reinterpret_cast<const T*>(tile.row(i < tile.rows ? i : 0)) + col);
    }
    transpose_squares(d, v);
    store_columns(d, v, tile.staged + col * tile.staged_pitch, tile.staged_pitch);
  }
}

/// Transposes a tile whose elements have the size of a lane.
template <class T>
void stage_vectors(const Tile& tile) {
  constexpr int kBytes = int(sizeof(T));
  const hn::ScalableTag<T> whole;
  const hn::FixedTag<T, 16 / sizeof(T)> block;
  const auto side = std::int64_t(hn::Lanes(block));
  const auto lanes = std::int64_t(hn::Lanes(whole));
  if (tile.rows >= side && tile.cols >= side) {
    if (tile.rows < lanes) return stage_blocks<BlockStores::plain, kBytes>(block, tile);
    if (tile.to_memory) return stage_blocks<BlockStores::past_caches, kBytes>(whole, tile);
    return stage_blocks<BlockStores::plain, kBytes>(whole, tile);
  }
  if (tile.rows >= lanes && tile.cols > 1) return stage_blocks<BlockStores::few, kBytes>(whole, tile);
  if (tile.rows >= side && tile.cols > 1) return stage_blocks<BlockStores::few, kBytes>(block, tile);
  if (tile.rows > 1 && tile.cols >= lanes) return stage_few_rows(whole, tile);
  if (tile.rows > 1 && tile.cols >= side) return stage_few_rows(block, tile);
  stage_elements<sizeof(T), sizeof(T)>(tile);
}

/// Transposes a tile whose elements are larger than half a lane. Up to a vector of bytes is written after
/// each row of the result: if the next row begins earlier, the number of rows must not exceed the lanes of a
/// vector.
template <class T, int kBytes>
void stage_parts(const Tile& tile) {
  const hn::ScalableTag<T> whole;
  if (tile.rows < 2 || tile.cols < std::int64_t(16 / sizeof(T))) {
    stage_elements_of(tile.element_bytes)(tile);
  } else {
    stage_blocks<BlockStores::parts, kBytes>(whole, tile);
  }
}

/// Transposes rows [first, first + kRows) of elements of 9 to 15 bytes with 16-byte copies; the next row
/// overwrites the excess.
template <int kBytes, int kRows>
HWY_INLINE void stage_wide_rows(const Tile& tile, std::int64_t first) {
  const std::int64_t bytes = kBytes > 0 ? kBytes : tile.element_bytes;
  prefetch_next(tile, first, kRows, bytes);
  const std::byte* from[kRows];
  SEPCONV_UNROLL
  for (int row = 0; row < kRows; ++row) from[row] = tile.row(first + row);
  std::byte* to = tile.staged + first * bytes;
  const std::int64_t last = (tile.cols - 1) * bytes;
  for (std::int64_t at = 0; at < last; at += bytes, to += tile.staged_pitch) {
    SEPCONV_UNROLL
    for (int row = 0; row < kRows; ++row) std::memcpy(to + row * bytes, from[row] + at, 16);
  }
  SEPCONV_UNROLL
  for (int row = 0; row < kRows; ++row) copy_element<8, kBytes>(from[row] + last, bytes, to + row * bytes);
}

/// Up to 7 bytes are written after each row of the result: if the next row begins earlier, there must be at
/// most 8 rows.
template <int kBytes>
void stage_wide_parts(const Tile& tile) {
  std::int64_t row = 0;
  for (; row + 8 <= tile.rows; row += 8) stage_wide_rows<kBytes, 8>(tile, row);
  for (; row < tile.rows; ++row) stage_wide_rows<kBytes, 1>(tile, row);
}

/// Maximum number of rows for which elements of this size may be written to a result without gaps: the rows
/// are written in one step, and the next column overwrites the excess. Wide elements would allow 8 rows, but
/// their last rows are written one by one.
inline std::int64_t max_parts_rows(std::int64_t bytes) {
  if (bytes > 8) return 1;
  return bytes < 4 ? std::int64_t(hn::Lanes(hn::ScalableTag<std::uint32_t>()))
                   : std::int64_t(hn::Lanes(hn::ScalableTag<std::uint64_t>()));
}

#endif  // HWY_SCALAR
}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SEPCONV_TRANSPOSE_BLOCKS_INL_H
