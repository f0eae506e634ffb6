// JPEG streams as TIFF stores them (Adobe's TIFF technical note 2): their frame headers, and complete streams
// from a block and the tables that all blocks share (the tag JPEGTables).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/geometry.hpp"
#include "io/byte_file.hpp"

namespace sepconv {

/// Frame header: ITU-T T.81, B.2.2.
struct JpegFrame {
  int marker;  ///< which process: 0xC0 and 0xC1 are sequential with Huffman codes
  int bits;    ///< per sample
  Extent extent;
};

/// Finds the frame header in the first bytes of a stream; null if they do not contain it.
std::optional<JpegFrame> jpeg_frame(std::span<const std::byte> stream) noexcept;
/// Finds the frame header of a stream in a file; null also if that takes more than kMaxFrameReads reads.
/// Throws IoError.
std::optional<JpegFrame> jpeg_frame(const InputFile& file, std::int64_t offset, std::int64_t bytes);
inline constexpr int kMaxFrameReads = 512;  ///< of up to 4096 bytes: an ICC profile can take 255 segments

/// Whether these tables may precede any stream: they contain only tables and comments.
bool are_plain_jpeg_tables(std::span<const std::byte> tables) noexcept;

/// Whether the stream may define tables, before or between its scans. Also true if bytes of a comment look
/// like tables.
bool may_define_jpeg_tables(std::span<const std::byte> stream) noexcept;

/// Size of a complete stream from these tables, or none, and a block of `block_bytes`.
std::int64_t complete_jpeg_bytes(std::span<const std::byte> tables, std::int64_t block_bytes) noexcept;

/// The part of the stream that the block is to be read into. Then put_jpeg_tables() completes the stream. If
/// the block does not begin as a JPEG does, the stream becomes one that no decoder accepts.
std::span<std::byte> block_in_jpeg(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept;
void put_jpeg_tables(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept;

}  // namespace sepconv
