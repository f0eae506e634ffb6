// JPEGs as TIFF stores them (Adobe's TIFF technical note 2): what the frame's header says, and whole streams
// of a block and the tables that all blocks share (the tag JPEGTables).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/geometry.hpp"
#include "io/byte_file.hpp"

namespace sepconv {

/// ITU-T T.81, B.2.2.
struct JpegFrame {
  int marker;  ///< which process: 0xC0 and 0xC1 are sequential with Huffman codes
  int bits;    ///< of a sample
  Extent extent;
};

/// Nothing where there is none in these bytes, a stream's first.
std::optional<JpegFrame> jpeg_frame(std::span<const std::byte> stream) noexcept;
/// The same of a stream that lies in a file; nothing also where that takes more than kMaxFrameReads reads.
/// Throws IoError.
std::optional<JpegFrame> jpeg_frame(const InputFile& file, std::int64_t offset, std::int64_t bytes);
inline constexpr int kMaxFrameReads =
    512;  ///< of up to 4096 bytes: a profile of colours can take 255 segments

/// Whether streams may have these in front of what they say themselves: nothing but tables and comments.
bool are_plain_jpeg_tables(std::span<const std::byte> tables) noexcept;

/// False: the stream defines no tables, neither before nor between its scans. True also where bytes of a
/// comment look as if it did.
bool may_bring_jpeg_tables(std::span<const std::byte> stream) noexcept;

/// Bytes of the stream that is made of such tables, or of none, and of a block of this many.
std::int64_t whole_jpeg_bytes(std::span<const std::byte> tables, std::int64_t block_bytes) noexcept;

/// Where in it the block is to be read to. Then put_jpeg_tables() makes the stream whole: one that no decoder
/// takes, if the block does not begin as a JPEG does.
std::span<std::byte> place_in_jpeg(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept;
void put_jpeg_tables(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept;

}  // namespace sepconv
