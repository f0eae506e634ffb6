// Helpers of the transposition kernels: words, divisions, and the position of a block's tile.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/transpose/tiles.hpp"

namespace sepconv::transposing {

template <int Bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = unsigned char;
};
template <>
struct WordOf<2> {
  using Type = unsigned short;
};
template <>
struct WordOf<4> {
  using Type = unsigned;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <int Bytes>
using Word = typename WordOf<Bytes>::Type;

/// dividend / divisor. Their product must be below 2^32.
__device__ inline unsigned quotient(unsigned dividend, const Divisor& divisor) {
  return divisor.factor == 0 ? dividend : __umulhi(dividend, divisor.factor);
}

__device__ inline int clamped_count(std::int64_t a, int b) { return a < b ? static_cast<int>(a) : b; }

struct TilePosition {
  unsigned item, row, col;
};

/// Position of the tile with this linear index.
__device__ inline TilePosition tile_position(const TileGrid& grid, unsigned number) {
  unsigned item = 0;
  if (!grid.items_within_band && grid.items > 1) {
    const unsigned tiles = grid.rows * grid.cols;
    item = number / tiles;
    number -= item * tiles;
  }
  const unsigned inside = grid.items_within_band ? grid.items : 1;
  const unsigned band_tiles = grid.band_rows * grid.cols * inside;
  const unsigned band = number / band_tiles;
  number -= band * band_tiles;
  const unsigned height = min(grid.band_rows, grid.rows - band * grid.band_rows);
  const unsigned block_tiles = height * grid.band_cols * inside;
  const unsigned block = number / block_tiles;
  number -= block * block_tiles;
  const unsigned width = min(grid.band_cols, grid.cols - block * grid.band_cols);
  if (grid.items_within_band) {
    item = number / (height * width);
    number -= item * (height * width);
  }
  const unsigned fast = grid.rows_first ? height : width;
  const unsigned slow_index = number / fast;
  const unsigned fast_index = number - slow_index * fast;
  const unsigned row = grid.rows_first ? fast_index : slow_index;
  const unsigned col = grid.rows_first ? slow_index : fast_index;
  return {item, band * grid.band_rows + row, block * grid.band_cols + col};
}

/// Loads the aligned word at byte `offset` of a piece. Bytes outside [begin, end) are not read and are
/// returned as 0.
__device__ inline unsigned load_within(const std::byte* piece, std::int64_t offset, std::int64_t begin,
                                       std::int64_t end) {
  if (offset >= begin && offset + 4 <= end) return *reinterpret_cast<const unsigned*>(piece + offset);
  unsigned word = 0;
  for (int i = 0; i < 4; ++i) {
    if (offset + i >= begin && offset + i < end) word |= static_cast<unsigned>(piece[offset + i]) << (8 * i);
  }
  return word;
}
/// Stores the bytes of an aligned word that are in [0, end) of the piece.
__device__ inline void store_within(std::byte* piece, std::int64_t offset, unsigned word, std::int64_t end) {
  if (offset >= 0 && offset + 4 <= end) {
    *reinterpret_cast<unsigned*>(piece + offset) = word;
    return;
  }
  for (int i = 0; i < 4; ++i) {
    if (offset + i >= 0 && offset + i < end) piece[offset + i] = static_cast<std::byte>(word >> (8 * i));
  }
}

/// The word that begins at byte `begin` of a run of elements. The elements are scattered in shared memory in
/// units of Unit bytes: offset_of(element, part) is the offset of byte `part` of an element.
template <int Element, int Unit, class OffsetOf>
__device__ inline unsigned gather_word(const std::byte* shared, unsigned begin, const OffsetOf& offset_of) {
  unsigned element = begin / Element;
  unsigned part = begin - element * Element;
  if constexpr (Unit == 4) {
    return *reinterpret_cast<const unsigned*>(shared + offset_of(element, part));
  } else {
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < 4 / Unit; ++i) {
      word |= static_cast<unsigned>(*reinterpret_cast<const Word<Unit>*>(shared + offset_of(element, part)))
              << (8 * Unit * i);
      part += Unit;
      if (part == Element) {
        part = 0;
        ++element;
      }
    }
    return word;
  }
}
/// Adds 4 bytes of padding every 128, so that threads with a power-of-two stride have no bank conflicts.
__device__ inline unsigned padded(unsigned offset) { return offset + (offset >> 7) * 4; }

/// Loads the first `valid` bytes (fewer than the word has) at any address; the others are 0.
__device__ inline unsigned load_bytes(const std::byte* from, int valid) {
  unsigned word = 0;
  for (int i = 0; i < 4; ++i) {
    if (i < valid) word |= static_cast<unsigned>(from[i]) << (8 * i);
  }
  return word;
}
__device__ inline void store_bytes(std::byte* to, unsigned word, int valid) {
  for (int i = 0; i < 4; ++i) {
    if (i < valid) to[i] = static_cast<std::byte>(word >> (8 * i));
  }
}

}  // namespace sepconv::transposing
