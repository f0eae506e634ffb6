// Scratch memory per tile during decoding; it is located after all tiles.
#pragma once

#include <algorithm>

#include "core/encoded_tiles.hpp"
#include "core/memory.hpp"
#include "kernels/jpeg/geometry.hpp"
#include "kernels/zstd/frame_decoder.hpp"

namespace sepconv {

/// Bytes per tile: the checksum of a deflate stream, the literals of a zstd block, or the coefficients of a
/// JPEG.
inline std::int64_t scratch_bytes_per_tile(const EncodedTiles& tiles) noexcept {
  switch (tiles.codec) {
    case BlockCodec::zstd:
      return round_up(std::min<std::int64_t>(tiles.bytes(), zstd::kMaxBlockBytes), kAlignment);
    case BlockCodec::lz4:
      return 0;
    case BlockCodec::jpeg:
      return round_up(jpeg::geometry_of(tiles, tiles.tile.rows).blocks() * jpeg::kBlockBytes, kAlignment);
    default:
      return sizeof(std::uint32_t);
  }
}

}  // namespace sepconv
