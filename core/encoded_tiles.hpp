// Blocks of an image as a file stores them, compressed: what whoever codes them must know.
#pragma once

#include <cstdint>
#include <optional>

#include "core/image.hpp"

namespace sepconv {

/// What a block's bytes are.
enum class BlockCodec : std::uint8_t {
  zlib,  ///< a stream (RFC 1950)
  gzip,  ///< one member (RFC 1952)
  zstd,  ///< frames (RFC 8878)
  lz4,   ///< how many bytes it holds, in 4, little-endian, and a block of LZ4: as numcodecs has it
  jpeg,  ///< an image of its own, with its tables (ITU-T T.81)
};

/// Tiles or strips of an image, all channels together. Each is a stream of its rows without gaps, or an
/// image of as many rows.
struct EncodedTiles {
  Extent tile;
  std::int64_t channels = 1;
  PixelType type = PixelType::u8;
  int predictor = 1;        ///< as TIFF's tag has it: none, horizontal, or that of floating point
  bool big_endian = false;  ///< of the stored pixels
  bool pads = true;         ///< false: strips, as wide as the image, of which the last may have fewer rows
  BlockCodec codec = BlockCodec::zlib;
  bool is_checked = false;                        ///< of zstd that is encoded: frames end with a checksum
  bool is_ycbcr = false;                          ///< of JPEG: its components are that, and become RGB
  std::uint8_t chroma_cols = 1, chroma_rows = 1;  ///< of JPEG: pixels that share a sample of the second and
                                                  ///< of the third component, across and down
  /// The element, its bits, that tiles which are encoded continue with beyond the image; unset: with the last
  /// pixel, as a TIFF's.
  std::optional<std::uint64_t> fill{};

  std::int64_t row_bytes() const noexcept { return tile.cols * channels * size_of(type); }
  std::int64_t bytes() const noexcept { return tile.rows * row_bytes(); }
  /// Tiles that cover this many pixels: down and across.
  Extent grid(Extent part) const noexcept {
    return {ceil_div(part.rows, tile.rows), ceil_div(part.cols, tile.cols)};
  }
  friend bool operator==(const EncodedTiles&, const EncodedTiles&) = default;
};

/// Streams lie at multiples of it, which is what a GPU loads at once.
inline constexpr std::int64_t kStreamAlignment = 16;

/// Where a tile's stream lies, in bytes.
struct EncodedTile {
  std::int64_t offset, bytes;
};

}  // namespace sepconv
