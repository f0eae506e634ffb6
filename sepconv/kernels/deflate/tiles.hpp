// Tiles of an image to zlib streams on a GPU: the bytes that deflate::RasterCoder makes of them on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sepconv/core/image.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"

namespace sepconv {

/// How a TIFF stores the pixels of an image, all channels together, in blocks that are compressed one by one.
struct CodedTiles {
  Extent tile;
  std::int64_t channels = 1;
  PixelType type = PixelType::u8;
  int predictor = 1;        ///< as the tag has it: none, horizontal, or that of floating point
  bool big_endian = false;  ///< of the stored pixels
  bool pads = true;         ///< false: strips, as wide as the image, of which the last may have fewer rows

  std::int64_t row_bytes() const noexcept { return tile.cols * channels * size_of(type); }
  std::int64_t bytes() const noexcept { return tile.rows * row_bytes(); }
  /// Tiles that cover this many pixels: down and across.
  Extent grid(Extent part) const noexcept {
    return {ceil_div(part.rows, tile.rows), ceil_div(part.cols, tile.cols)};
  }
};

/// Where a tile's stream lies, in bytes.
struct EncodedTile {
  std::int64_t offset, bytes;
};

/// Device memory that coding a part of this many pixels takes beside its result.
std::int64_t deflate_tiles_scratch_bytes(const CodedTiles& tiles, Extent part);

/// Room for the streams of a part of this many pixels, whatever the pixels.
std::int64_t deflate_tiles_most_bytes(const CodedTiles& tiles, Extent part);

/// Codes a part of an image: its first pixel is a tile's first, it ends where a tile or the image does, and
/// tiles are filled up there as a TIFF's encoder does it. `encoded` gets the streams, tiles row-major, each
/// at a multiple of 16 bytes, and `entries` where they are; after the last comes the end of all, with no
/// bytes. What lies in `encoded` beyond streams is zeros. All in device memory: `scratch` and `encoded` at
/// multiples of 16, with room as above; one entry more than tiles. Enqueues on `stream` and returns. Throws
/// InvalidArgument for other pixels than `tiles` says, for big-endian ones, for predictor 3 of integers, and
/// for strips that are not as wide as the part; CudaError.
void deflate_tiles_cuda(const ConstPixelView& in, const CodedTiles& tiles, std::byte* scratch,
                        std::byte* encoded, EncodedTile* entries, DeviceStream stream);

}  // namespace sepconv
