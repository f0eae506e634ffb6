// Compressed tiles of an image as a file stores them: the parameters of their encoders and decoders.
#pragma once

#include <cstdint>
#include <optional>

#include "core/image.hpp"

namespace sepconv {

/// Format of a tile's bytes.
enum class BlockCodec : std::uint8_t {
  zlib,  ///< a stream (RFC 1950)
  gzip,  ///< one member (RFC 1952)
  zstd,  ///< frames (RFC 8878)
  lz4,   ///< decoded size in 4 bytes, little-endian, then an LZ4 block, as in numcodecs
  jpeg,  ///< a complete image with its tables (ITU-T T.81)
};

/// Tiles or strips of an image, all channels together. Each is a compressed stream of its rows without gaps,
/// or an image with as many rows.
struct EncodedTiles {
  Extent tile;
  std::int64_t channels = 1;
  PixelType type = PixelType::u8;
  int predictor = 1;        ///< value of TIFF's tag: 1 none, 2 horizontal, 3 floating point
  bool big_endian = false;  ///< byte order of the stored pixels
  bool pads = true;         ///< false: strips as wide as the image; the last may have fewer rows
  BlockCodec codec = BlockCodec::zlib;
  bool has_checksum = false;                      ///< zstd encoder: frames end with a checksum
  bool is_ycbcr = false;                          ///< JPEG: the components are YCbCr and are converted to RGB
  std::uint8_t chroma_cols = 1, chroma_rows = 1;  ///< JPEG: pixels per chroma sample, horizontally and
                                                  ///< vertically
  /// The bit pattern of the element with which encoded tiles are padded beyond the image; unset: padded with
  /// the last pixel, as in a TIFF.
  std::optional<std::uint64_t> fill{};

  std::int64_t row_bytes() const noexcept { return tile.cols * channels * size_of(type); }
  std::int64_t bytes() const noexcept { return tile.rows * row_bytes(); }
  /// Number of tiles that cover this many pixels: rows and columns of tiles.
  Extent grid(Extent part) const noexcept {
    return {ceil_div(part.rows, tile.rows), ceil_div(part.cols, tile.cols)};
  }
  friend bool operator==(const EncodedTiles&, const EncodedTiles&) = default;
};

/// Alignment of streams in bytes: the size of a GPU's widest load.
inline constexpr std::int64_t kStreamAlignment = 16;

/// Position and size of a tile's stream, in bytes.
struct EncodedTile {
  std::int64_t offset, bytes;
};

}  // namespace sepconv
