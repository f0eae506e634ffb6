// What a tile takes besides its bytes while it is decoded: behind all tiles, as many times.
#pragma once

#include <algorithm>

#include "core/encoded_tiles.hpp"
#include "core/memory.hpp"
#include "kernels/jpeg/geometry.hpp"
#include "kernels/zstd/frame_decoder.hpp"

namespace sepconv {

/// The checksum that a stream of deflate ends with; the literals of a block of zstd; the coefficients of a
/// JPEG.
inline std::int64_t scratch_per_tile(const EncodedTiles& tiles) noexcept {
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
