// Tiles of an image to streams of zlib, gzip or zstd on a GPU: the bytes that deflate::RasterCoder and
// zstd::RasterCoder make of them on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv {

/// Device memory that coding a part of this many pixels takes besides its result.
std::int64_t encode_tiles_scratch_bytes(const EncodedTiles& tiles, Extent part);

/// Room for the streams of a part of this many pixels, whatever the pixels.
std::int64_t encode_tiles_max_bytes(const EncodedTiles& tiles, Extent part);

/// Codes a part of an image: its first pixel is a tile's first, it ends where a tile or the image does, and
/// tiles are filled up there as `tiles` says. `encoded` gets the streams, tiles row-major, each
/// at a multiple of kStreamAlignment, and `entries` where they are; after the last comes the end of all, with
/// no bytes. What lies in `encoded` beyond streams is zeros. All in device memory: `scratch` and `encoded` at
/// multiples of kStreamAlignment, with room as above; one entry more than tiles. Enqueues on `stream` and
/// returns. Throws InvalidArgument for other pixels and codecs than these, for big-endian ones, for predictor
/// 3 of integers, and for strips that are not as wide as the part; CudaError.
void encode_tiles_cuda(const ConstPixelView& in, const EncodedTiles& tiles, std::byte* scratch,
                       std::byte* encoded, EncodedTile* entries, DeviceStream stream);

}  // namespace sepconv
