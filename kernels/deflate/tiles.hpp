// Encodes tiles of an image as zlib, gzip or zstd streams on a GPU, with the same bytes as
// deflate::RasterCoder and zstd::RasterCoder on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "core/image.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv {

/// Device memory in bytes that encoding a part of this size needs in addition to its result.
std::int64_t encode_tiles_scratch_bytes(const EncodedTiles& tiles, Extent part);

/// Upper bound in bytes of the streams of a part of this size.
std::int64_t encode_tiles_max_bytes(const EncodedTiles& tiles, Extent part);

/// Encodes a part of an image. The part begins at a tile's first pixel and ends at a tile boundary or at the
/// image's edge, where tiles are padded as `tiles` specifies. `encoded` receives the streams, tiles in
/// row-major order, each aligned to kStreamAlignment and with zeros between them. `entries` receives their
/// positions, and after them one entry with the end of all streams and 0 bytes. All pointers are device
/// memory; `scratch` and `encoded` are aligned to kStreamAlignment and have the sizes above; `entries` has
/// one more entry than there are tiles. Enqueues on `stream` and returns. Throws InvalidArgument for pixels
/// that do not match `tiles`, for other codecs, for big-endian tiles, for predictor 3 with integers, and for
/// strips that are not as wide as the part; DeviceError.
void encode_tiles_device(const ConstPixelView& in, const EncodedTiles& tiles, std::byte* scratch,
                         std::byte* encoded, EncodedTile* entries, DeviceStream stream);

}  // namespace sepconv
