// How the device memory lies that coding of tiles takes. Private to this folder.
#pragma once

#include "core/deflate/block_code.hpp"
#include "kernels/deflate/tiles.hpp"
#include "kernels/zstd/block_plan.hpp"

namespace sepconv::deflate {

/// length() bytes at `position` of a block are those before: the pixel's or, far, the row's.
struct BlockMatch {
  std::uint16_t position, length_minus_1;  ///< bytes behind the first
  std::uint16_t is_far;                    ///< of zstd, once it is counted: what says the distance

  SEPCONV_HOST_DEVICE int length() const { return length_minus_1 + 1; }
};

/// What is known of a block before it is written.
struct BlockPlan {
  CodeTable table;
  std::uint32_t head[142];  ///< 316 lengths of codes, of 14 bits at most, after 74 bits
  std::uint32_t head_bits, matches, is_stored;
  std::uint32_t sum,
      weighted;             ///< for the checksum: of all bytes, and of each times those from it to the end
  std::int64_t bits;        ///< of the block; of one that is stored, without what aligns it
  std::int64_t bit_offset;  ///< its first bit in the stream
};

/// Tiles as they are compressed, one behind the other; their repeats, as many as fit; the plans of blocks.
struct TilesScratch {
  bool is_zstd;
  std::int64_t tiles, pitch_bytes, block_bytes, blocks;  ///< bytes from tile to tile, blocks a tile

  TilesScratch(const EncodedTiles& coded, Extent part)
      : is_zstd(coded.codec == BlockCodec::zstd),
        tiles(coded.grid(part).area()),
        pitch_bytes(round_up(coded.bytes(), kMinMatch)),
        block_bytes(is_zstd ? zstd::kBlockBytes : kBlockBytes),
        blocks(ceil_div(coded.bytes(), block_bytes)) {}

  std::int64_t max_matches() const noexcept { return pitch_bytes / kMinMatch; }  ///< of a tile
  std::int64_t matches_offset() const noexcept { return tiles * pitch_bytes; }
  std::int64_t plans_offset() const noexcept {
    const auto bytes = static_cast<std::int64_t>(sizeof(BlockMatch));
    return matches_offset() + round_up(tiles * max_matches() * bytes, 16);
  }
  /// For zstd, the bits of sequences.
  std::int64_t sequences_offset() const noexcept {
    return plans_offset() +
           tiles * blocks * static_cast<std::int64_t>(is_zstd ? sizeof(zstd::BlockPlan) : sizeof(BlockPlan));
  }
  std::int64_t bytes() const noexcept {
    return sequences_offset() + (is_zstd ? tiles * blocks * zstd::kMaxSequenceBytes : 0);
  }
};

}  // namespace sepconv::deflate
