// Blocks of an image as files store them, decoded on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv {

/// Bytes that may be read behind the last stream's end.
inline constexpr std::int64_t kStreamSlack = 256;

/// From one decoded tile to the next.
std::int64_t decoded_tile_bytes(const EncodedTiles& tiles) noexcept;

/// Room for this many decoded tiles, and what is needed besides them while they are decoded.
std::int64_t decode_tiles_bytes(const EncodedTiles& tiles, std::int64_t count) noexcept;

/// Whether there is such a predictor for such pixels; of JPEG: bytes of one channel, or of three of which
/// none or those of chroma have half as many samples across, or across and down.
bool can_decode_tiles(const EncodedTiles& tiles) noexcept;

/// Decodes streams of whole tiles, one a warp. Stream i is streams[i] of `encoded`, at a multiple of
/// kStreamAlignment; with 0 bytes it is left out. Tiles lie row-major and cover `part` of the image: where
/// they are strips, the last has the rows that are left. Tile i comes to `decoded`, which has
/// decode_tiles_bytes(), + i * decoded_tile_bytes(), as it was before compression. refused[i] is 0 where it
/// is exactly that and the stream's checksum holds. Else it is 1 and the tile's bytes are undefined: the
/// stream is left out, damaged, or one that encoders of images do not make (gzip with a name or of several
/// members; zstd of several frames or with a dictionary; JPEG that is progressive, arithmetic,
/// not of 8 bits or in several scans). A JPEG's pixels are those of libjpeg with JDCT_ISLOW and fancy
/// upsampling; what libjpeg warns of is refused. All device memory; enqueues on `stream` and returns. Throws
/// CudaError, InvalidArgument for tiles that cannot be decoded.
void decode_tiles_cuda(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                       Extent part, std::byte* decoded, std::int32_t* refused, DeviceStream stream);

/// Pixels of decoded tiles: undoes their predictor and byte order. `out`, in device memory, shows the pixels
/// `shown` of the part that the tiles cover. Tiles that are refused are left out.
void unpredict_tiles_cuda(const std::byte* decoded, const std::int32_t* refused, const EncodedTiles& tiles,
                          Extent part, const Rect& shown, const PixelView& out, DeviceStream stream);

}  // namespace sepconv
