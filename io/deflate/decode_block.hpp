// The symbols of a block of deflate, decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "io/deflate/bit_source.hpp"
#include "io/deflate/decoding_tables.hpp"

namespace sepconv::deflate {

/// Where decoded bytes go: from `begin` on, of which those before `at` are there.
struct ByteSink {
  std::byte *begin, *at, *end;
};

/// A stream within a block: the codes of that, and how far it is decoded.
struct BlockStream {
  const LengthTable* lengths;
  const DistanceTable* distances;
  BitSource source;
  ByteSink sink;
};

/// `fail`: the block is broken, or has more than there is room for.
enum class Step : std::uint8_t { go_on, end, fail };

/// Appends a block's bytes; `end` or `fail`. Reads and writes within the source and the sink only, whatever
/// the bits.
Step decode_block(BlockStream& stream) noexcept;

/// The same of two streams in one loop, in turns: one look-up waits for the one before it, and meanwhile the
/// other stream's is under way. Returns where either is at `end` or `fail`; the other may `go_on`.
std::array<Step, 2> decode_two_blocks(BlockStream& one, BlockStream& other) noexcept;

}  // namespace sepconv::deflate
