// What is known of a block of zstd before it is written. Private to the kernels that code tiles.
#pragma once

#include "core/zstd/literal_code.hpp"
#include "core/zstd/sequences.hpp"

namespace sepconv::zstd {

/// Bits of sequences, of which each takes at most 64, and of what comes before and after them.
inline constexpr std::int64_t kMaxSequenceBytes = kBlockBytes / deflate::kMinMatch * 8 + 16;

struct BlockPlan {
  std::uint32_t codes[LiteralCode::kValues];  ///< and their bits in the upper half
  std::uint8_t head[LiteralCode::kMaxHead];   ///< what tells them
  std::uint32_t head_bytes, matches, literals;
  LiteralKind kind;
  bool is_plain;                       ///< all of the block: its literals have nothing around them
  std::uint8_t value;                  ///< of literals of one
  std::uint32_t stream_end[kStreams];  ///< bits of the literals up to the end of each of their streams
  std::uint32_t sequence_bytes;        ///< with their number
  std::uint32_t bytes;                 ///< of all but the block's head
  std::int64_t byte_offset;            ///< its first byte in the frame

  /// Streams of literals end with a mark.
  SEPCONV_HOST_DEVICE std::uint32_t stream_bits(std::uint32_t stream) const {
    return stream_end[stream] - (stream > 0 ? stream_end[stream - 1] : 0);
  }
  SEPCONV_HOST_DEVICE std::uint32_t stream_bytes(std::uint32_t stream) const {
    return stream_bits(stream) / 8 + 1;
  }
  SEPCONV_HOST_DEVICE std::uint32_t literals_per_stream() const {
    return (literals + kStreams - 1) / kStreams;
  }
  /// For literals, without what comes before those that are coded.
  SEPCONV_HOST_DEVICE std::uint32_t stored_literals() const {
    if (kind != LiteralKind::coded) return kind == LiteralKind::plain ? literals : 1;
    std::uint32_t bytes_of = head_bytes + kJumpBytes;
    for (std::uint32_t stream = 0; stream < kStreams; ++stream) bytes_of += stream_bytes(stream);
    return bytes_of;
  }
};

}  // namespace sepconv::zstd
