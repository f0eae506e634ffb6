// Layout of the device memory that tile encoding needs. Private to this folder.
#pragma once

#include "core/deflate/block_code.hpp"
#include "core/host_device.hpp"
#include "kernels/deflate/tiles.hpp"
#include "kernels/zstd/block_plan.hpp"

namespace sepconv::deflate {

/// A match: length() bytes at `position` of a block equal those of the previous pixel or, if is_row_distance, of the
/// row above.
struct BlockMatch {
  std::uint16_t position, length_minus_1;  ///< match length minus 1
  std::uint16_t is_row_distance;           ///< for zstd, after counting: the offset value (RFC 8878, 3.1.1.5)

  SEPCONV_HOST_DEVICE int length() const { return length_minus_1 + 1; }
};

/// Everything about a block that is computed before it is written.
struct BlockPlan {
  CodeTable table;
  std::uint32_t head[142];  ///< 74 bits, then 316 code lengths of at most 14 bits each
  std::uint32_t head_bits, matches, is_stored;
  std::uint32_t sum,
      weighted;             ///< checksum: sum of all bytes; sum of each times the bytes from it to the end
  std::int64_t bits;        ///< size of the block; for a stored block without the alignment
  std::int64_t bit_offset;  ///< first bit of the block in the stream
};

/// Scratch memory: predicted tiles, then matches (as many as fit), then the plans of the blocks.
struct TilesScratch {
  bool is_zstd;
  std::int64_t tiles, pitch_bytes, block_bytes, blocks;  ///< pitch_bytes: from tile to tile; blocks: per tile

  TilesScratch(const EncodedTiles& coded, Extent part)
      : is_zstd(coded.codec == BlockCodec::zstd),
        tiles(coded.grid(part).area()),
        pitch_bytes(round_up(coded.bytes(), kMinMatch)),
        block_bytes(is_zstd ? zstd::kBlockBytes : kBlockBytes),
        blocks(ceil_div(coded.bytes(), block_bytes)) {}

  std::int64_t max_matches() const noexcept { return pitch_bytes / kMinMatch; }  ///< per tile
  std::int64_t matches_offset() const noexcept { return tiles * pitch_bytes; }
  std::int64_t plans_offset() const noexcept {
    const auto bytes = static_cast<std::int64_t>(sizeof(BlockMatch));
    return matches_offset() + round_up(tiles * max_matches() * bytes, 16);
  }
  /// Offset of the zstd sequences' bits.
  std::int64_t sequences_offset() const noexcept {
    return plans_offset() +
           tiles * blocks * static_cast<std::int64_t>(is_zstd ? sizeof(zstd::BlockPlan) : sizeof(BlockPlan));
  }
  std::int64_t bytes() const noexcept {
    return sequences_offset() + (is_zstd ? tiles * blocks * zstd::kMaxSequenceBytes : 0);
  }
};

}  // namespace sepconv::deflate
