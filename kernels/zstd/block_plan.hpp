// Everything about a zstd block that is computed before it is written. Private to the kernels that encode
// tiles.
#pragma once

#include "core/host_device.hpp"
#include "core/zstd/literal_code.hpp"
#include "core/zstd/sequences.hpp"

namespace sepconv::zstd {

/// Upper bound for the bits of the sequences (at most 64 each) and the bits around them.
inline constexpr std::int64_t kMaxSequenceBytes = kBlockBytes / deflate::kMinMatch * 8 + 16;

struct BlockPlan {
  std::uint32_t codes[LiteralCode::kValues];  ///< codes of literals; their lengths are in the upper half
  std::uint8_t head[LiteralCode::kMaxHead];   ///< the encoded Huffman tree description
  std::uint32_t head_bytes, matches, literals;
  LiteralKind kind;
  bool is_raw;                         ///< a raw block
  std::uint8_t value;                  ///< the literal, for LiteralKind::rle
  std::uint32_t stream_end[kStreams];  ///< bits of the literals up to the end of each stream
  std::uint32_t sequence_bytes;        ///< including the number of sequences
  std::uint32_t bytes;                 ///< size of the block without its header
  std::int64_t byte_offset;            ///< first byte of the block in the frame

  /// Bits of a literal stream without its end mark.
  SEPCONV_HOST_DEVICE std::uint32_t stream_bits(std::uint32_t stream) const {
    return stream_end[stream] - (stream > 0 ? stream_end[stream - 1] : 0);
  }
  SEPCONV_HOST_DEVICE std::uint32_t stream_bytes(std::uint32_t stream) const {
    return stream_bits(stream) / 8 + 1;
  }
  SEPCONV_HOST_DEVICE std::uint32_t literals_per_stream() const {
    return (literals + kStreams - 1) / kStreams;
  }
  /// Bytes of the literals without the literals section header.
  SEPCONV_HOST_DEVICE std::uint32_t literal_bytes() const {
    if (kind != LiteralKind::compressed) return kind == LiteralKind::raw ? literals : 1;
    std::uint32_t stored_bytes = head_bytes + kJumpTableBytes;
    for (std::uint32_t stream = 0; stream < kStreams; ++stream) stored_bytes += stream_bytes(stream);
    return stored_bytes;
  }
};

}  // namespace sepconv::zstd
