// The tiles to encode, as kernel parameters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/deflate/tiles_scratch.hpp"

namespace sepconv::deflate {

constexpr int kThreads = 128;

struct DeviceTiles {
  std::byte* predicted;
  BlockMatch* matches;
  std::byte *plans, *sequences;
  std::int64_t tiles, pitch_bytes;                ///< number of tiles, distance between them in `predicted`
  std::int64_t block_bytes, blocks, max_matches;  ///< size of a block; blocks and space for matches per tile
  std::int64_t rows, row_bytes;                   ///< size of a tile
  std::int64_t tiles_across;                      ///< tiles per row of tiles
  std::int64_t part_rows;
  bool pads, is_gzip, has_checksum;
  MatchDistances raster;

  DeviceTiles(const EncodedTiles& coded, Extent part, std::byte* scratch)
      : DeviceTiles(coded, part, scratch, TilesScratch(coded, part)) {}

  /// Rows of a tile; the last strip may have fewer.
  __device__ std::int64_t rows_of(std::int64_t tile) const {
    const std::int64_t left = part_rows - tile / tiles_across * rows;
    return pads || left > rows ? rows : left;
  }
  __device__ std::int64_t bytes_of(std::int64_t tile) const { return rows_of(tile) * row_bytes; }
  __device__ const std::uint8_t* data_of(std::int64_t tile) const {
    return reinterpret_cast<const std::uint8_t*>(predicted) + tile * pitch_bytes;
  }
  /// `Plan` is deflate::BlockPlan or zstd::BlockPlan.
  template <class Plan>
  __device__ Plan& plan(std::int64_t tile, std::int64_t block) const {
    return reinterpret_cast<Plan*>(plans)[tile * blocks + block];
  }

 private:
  DeviceTiles(const EncodedTiles& coded, Extent part, std::byte* scratch, const TilesScratch& layout)
      : predicted(scratch),
        matches(reinterpret_cast<BlockMatch*>(scratch + layout.matches_offset())),
        plans(scratch + layout.plans_offset()),
        sequences(scratch + layout.sequences_offset()),
        tiles(layout.tiles),
        pitch_bytes(layout.pitch_bytes),
        block_bytes(layout.block_bytes),
        blocks(layout.blocks),
        max_matches(layout.max_matches()),
        rows(coded.tile.rows),
        row_bytes(coded.row_bytes()),
        tiles_across(coded.grid(part).cols),
        part_rows(part.rows),
        pads(coded.pads),
        is_gzip(coded.codec == BlockCodec::gzip),
        has_checksum(coded.has_checksum),
        raster{coded.channels * size_of(coded.type), coded.row_bytes()} {}
};

/// A block of a tile's stream; `size` is 0 if the tile has no such block.
struct DeviceBlock {
  std::int64_t tile, index, first;
  int size;
  bool is_last;

  __device__ DeviceBlock(const DeviceTiles& tiles, std::int64_t number)
      : tile(number / tiles.blocks), index(number % tiles.blocks), first(index * tiles.block_bytes) {
    const std::int64_t left = tiles.bytes_of(tile) - first;
    size = static_cast<int>(left < 0 ? 0 : left < tiles.block_bytes ? left : tiles.block_bytes);
    is_last = left <= tiles.block_bytes;
  }
  __device__ const std::uint8_t* data(const DeviceTiles& tiles) const { return tiles.data_of(tile) + first; }
  __device__ BlockMatch* matches(const DeviceTiles& tiles) const {
    return tiles.matches + tile * tiles.max_matches + index * (tiles.block_bytes / kMinMatch);
  }
};

/// Sets a bit for each byte of a block that a match covers, by all threads. `covered` must be zero before.
__device__ inline void mark_covered(const BlockMatch* matches, int count, std::uint32_t* covered) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const int first = matches[i].position, last = first + matches[i].length();
    for (int word = first / 32; word * 32 < last; ++word) {
      std::uint32_t bits = ~0U;
      if (word * 32 < first) bits &= ~0U << (first - word * 32);
      if (word * 32 + 32 > last) bits &= ~0U >> (word * 32 + 32 - last);
      atomicOr(covered + word, bits);
    }
  }
}

}  // namespace sepconv::deflate
