// Headers of a zstd frame, its blocks and their literals (RFC 8878, 3.1.1), as the image encoder writes them:
// frames with a content size. The same source for the CPU and the GPU encoder, which produce the same bytes.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/zstd/format.hpp"

namespace sepconv::zstd {

/// Half of the maximum block size: each block has separate codes, and a GPU encodes many in parallel.
inline constexpr std::int64_t kBlockBytes = 1 << 16;
/// Fewer literals are stored raw.
inline constexpr std::uint32_t kMinCodedLiterals = 64;
/// Four literal streams are preceded by a jump table of three sizes.
inline constexpr std::uint32_t kStreams = 4, kJumpTableBytes = 6;
inline constexpr std::uint32_t kBlockHeaderBytes = 3;

enum class BlockKind : std::uint8_t { raw, compressed = 2 };
enum class LiteralKind : std::uint8_t { raw, rle, compressed };

/// A little-endian number of this many bytes.
struct LittleEndianField {
  std::uint64_t number;
  unsigned bytes;
};

/// The header after the magic number: a window of 128 KiB, larger than any match distance; the content size
/// in 4 or 8 bytes; whether a checksum follows the last block.
SEPCONV_HOST_DEVICE inline LittleEndianField make_frame_header(std::uint64_t content_bytes,
                                                               bool has_checksum) {
  constexpr std::uint64_t kWindow = (17 - 10) << 3;
  return {(content_bytes >> 32 == 0 ? 0x80U : 0xC0U) | (has_checksum ? kHasChecksum : 0U) | kWindow << 8, 2};
}
SEPCONV_HOST_DEVICE inline unsigned size_bytes(std::uint64_t content_bytes) {
  return content_bytes >> 32 == 0 ? 4 : 8;
}
SEPCONV_HOST_DEVICE inline unsigned frame_header_bytes(std::uint64_t content_bytes) {
  return 4 + 2 + size_bytes(content_bytes);
}

SEPCONV_HOST_DEVICE inline LittleEndianField make_block_header(BlockKind kind, std::uint32_t bytes,
                                                               bool is_last) {
  return {(is_last ? 1U : 0U) | static_cast<std::uint32_t>(kind) << 1 | std::uint64_t{bytes} << 3, 3};
}

/// `stored`: bytes of coded literals, including the description of their code.
SEPCONV_HOST_DEVICE inline LittleEndianField make_literals_header(LiteralKind kind, std::uint32_t count,
                                                                  std::uint32_t stored) {
  const auto number = static_cast<std::uint64_t>(kind);
  if (kind != LiteralKind::compressed) {
    if (count < 32) return {number | std::uint64_t{count} << 3, 1};
    if (count < 4096) return {number | 1 << 2 | std::uint64_t{count} << 4, 2};
    return {number | 3 << 2 | std::uint64_t{count} << 4, 3};
  }
  const unsigned format = count < 1 << 10 ? 1 : count < 1 << 14 ? 2 : 3, width = 6 + 4 * format;
  return {number | format << 2 | std::uint64_t{count} << 4 | std::uint64_t{stored} << (4 + width),
          2 + format};
}

}  // namespace sepconv::zstd
