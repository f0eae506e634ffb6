// Decodes the symbols of a deflate block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "io/deflate/bit_source.hpp"
#include "io/deflate/decoding_tables.hpp"

namespace sepconv::deflate {

/// Output buffer: bytes from `begin` to `next` are decoded.
struct ByteSink {
  std::byte *begin, *next, *end;
};

/// The state of a stream within a block: the block's codes, and the position in input and output.
struct BlockStream {
  const LengthTable* lengths;
  const DistanceTable* distances;
  BitSource source;
  ByteSink sink;
};

/// `fail`: the block is invalid or exceeds the output.
enum class BlockStatus : std::uint8_t { unfinished, end, fail };

/// Decodes the rest of a block; returns `end` or `fail`. Never accesses memory outside of source and sink,
/// even for invalid input.
BlockStatus decode_block(BlockStream& stream) noexcept;

/// Decodes two streams in one loop, alternately: the look-ups of one stream overlap with the latency of the
/// other's. Returns when either is at `end` or `fail`; the other may be `unfinished`.
std::array<BlockStatus, 2> decode_two_blocks(BlockStream& stream_1, BlockStream& stream_2) noexcept;

}  // namespace sepconv::deflate
