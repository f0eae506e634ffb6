// Decodes the compressed tiles of image files on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "core/image.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv {

/// Number of bytes after the last stream that may be read.
inline constexpr std::int64_t kStreamReadMargin = 256;

/// Distance in bytes between consecutive decoded tiles.
std::int64_t decoded_tile_bytes(const EncodedTiles& tiles) noexcept;

/// Bytes that decoding this many tiles needs, including scratch memory.
std::int64_t decode_tiles_bytes(const EncodedTiles& tiles, std::int64_t count) noexcept;

/// Whether the tiles can be decoded: whether the predictor is valid for the pixel type, and JPEGs are 8-bit
/// with one channel, or three channels with chroma at full resolution, halved horizontally, or halved in both
/// directions.
bool can_decode_tiles(const EncodedTiles& tiles) noexcept;

/// Decodes streams of whole tiles, one warp per stream. Stream i is streams[i] of `encoded`, aligned to
/// kStreamAlignment; a stream with 0 bytes is skipped. Tiles are in row-major order and cover `part` of the
/// image; the last of several strips has the remaining rows. `decoded` has decode_tiles_bytes() bytes; tile i
/// is written at i * decoded_tile_bytes(), as it was before compression. refused[i] is set to 0 if the tile
/// has exactly its size and the checksum matches. Otherwise it is 1 and the tile's bytes are undefined: the
/// stream was skipped, is damaged, or is of a kind that image encoders do not produce (gzip with a name or of
/// several members; zstd of several frames or with a dictionary; JPEG that is progressive, arithmetic, not of
/// 8 bits or in several scans). A JPEG's pixels are those of libjpeg with JDCT_ISLOW and fancy upsampling; a
/// JPEG for which libjpeg would warn is refused. All pointers are device memory. Enqueues on `stream` and
/// returns. Throws DeviceError, and InvalidArgument for tiles that cannot be decoded.
void decode_tiles_device(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                         Extent part, std::byte* decoded, std::int32_t* refused, DeviceStream stream);

/// Converts decoded tiles to pixels: undoes the predictor and the byte order. `out`, in device memory,
/// receives the rectangle `shown` of the part that the tiles cover. Refused tiles are skipped.
void unpredict_tiles_device(const std::byte* decoded, const std::int32_t* refused, const EncodedTiles& tiles,
                            Extent part, const Rect& shown, const PixelView& out, DeviceStream stream);

}  // namespace sepconv
