// Blocks of an image as a file with deflate stores them: what whoever codes them must know.
#pragma once

#include <cstdint>

#include "sepconv/core/image.hpp"

namespace sepconv {

/// Tiles or strips of an image, all channels together. Each is a zlib stream (RFC 1950) of its rows without
/// gaps.
struct CodedTiles {
  Extent tile;
  std::int64_t channels = 1;
  PixelType type = PixelType::u8;
  int predictor = 1;        ///< as TIFF's tag has it: none, horizontal, or that of floating point
  bool big_endian = false;  ///< of the stored pixels
  bool pads = true;         ///< false: strips, as wide as the image, of which the last may have fewer rows

  std::int64_t row_bytes() const noexcept { return tile.cols * channels * size_of(type); }
  std::int64_t bytes() const noexcept { return tile.rows * row_bytes(); }
  /// Tiles that cover this many pixels: down and across.
  Extent grid(Extent part) const noexcept {
    return {ceil_div(part.rows, tile.rows), ceil_div(part.cols, tile.cols)};
  }
  friend bool operator==(const CodedTiles&, const CodedTiles&) = default;
};

/// Where a tile's stream lies, in bytes.
struct EncodedTile {
  std::int64_t offset, bytes;
};

}  // namespace sepconv
