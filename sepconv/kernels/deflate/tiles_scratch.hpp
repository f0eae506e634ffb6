// How the device memory lies that coding of tiles takes. Private to this folder.
#pragma once

#include "sepconv/core/deflate/block_code.hpp"
#include "sepconv/kernels/deflate/tiles.hpp"

namespace sepconv::deflate {

/// `length` bytes at `position` of a block are those before: the pixel's or, far, the row's.
struct BlockRepeat {
  std::uint16_t position, length, is_far;
};

/// What is known of a block before it is written.
struct BlockPlan {
  CodeTable table;
  std::uint32_t head[142];  ///< 316 lengths of codes, of 14 bits at most, after 74 bits
  std::uint32_t head_bits, repeats, is_stored;
  std::uint32_t sum,
      weighted;       ///< for the checksum: of all bytes, and of each times those from it to the end
  std::int64_t bits;  ///< of the block; of one that is stored, without what aligns it
  std::int64_t at;    ///< its first bit in the stream
};

/// Tiles as they are compressed, one behind the other; their repeats, as many as fit; the plans of blocks.
struct TilesScratch {
  std::int64_t tiles, pitch_bytes, blocks;  ///< bytes from tile to tile, blocks a tile

  TilesScratch(const CodedTiles& coded, Extent part)
      : tiles(coded.grid(part).area()),
        pitch_bytes(round_up(coded.bytes(), kLeastRepeat)),
        blocks(ceil_div(coded.bytes(), kBlockBytes)) {}

  std::int64_t most_repeats() const noexcept { return pitch_bytes / kLeastRepeat; }  ///< of a tile
  std::int64_t repeats_at() const noexcept { return tiles * pitch_bytes; }
  std::int64_t plans_at() const noexcept {
    const auto bytes = static_cast<std::int64_t>(sizeof(BlockRepeat));
    return repeats_at() + round_up(tiles * most_repeats() * bytes, 16);
  }
  std::int64_t bytes() const noexcept {
    return plans_at() + tiles * blocks * static_cast<std::int64_t>(sizeof(BlockPlan));
  }
};

}  // namespace sepconv::deflate
