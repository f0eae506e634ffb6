#include "kernels/codec/decode.hpp"

#include "core/memory.hpp"
#include "kernels/codec/decode_scratch.hpp"

namespace sepconv {

std::int64_t decoded_tile_bytes(const EncodedTiles& tiles) noexcept {
  return round_up(tiles.bytes(), kAlignment);
}

std::int64_t decode_tiles_bytes(const EncodedTiles& tiles, std::int64_t count) noexcept {
  return count * (decoded_tile_bytes(tiles) + scratch_bytes_per_tile(tiles));
}

namespace {

bool can_decode_jpeg(const EncodedTiles& tiles) noexcept {
  constexpr std::int64_t kMaxSide = 65535;
  const bool is_whole = tiles.chroma_cols == 1 && tiles.chroma_rows == 1;
  const bool is_halved = tiles.chroma_cols == 2 && (tiles.chroma_rows == 1 || tiles.chroma_rows == 2);
  const bool fits = tiles.channels == 3 ? is_whole || (tiles.is_ycbcr && is_halved)
                                        : tiles.channels == 1 && is_whole && !tiles.is_ycbcr;
  return fits && tiles.type == PixelType::u8 && tiles.predictor == 1 && tiles.tile.rows <= kMaxSide &&
         tiles.tile.cols <= kMaxSide;
}

}  // namespace

bool can_decode_tiles(const EncodedTiles& tiles) noexcept {
  if (tiles.codec == BlockCodec::jpeg) return can_decode_jpeg(tiles);
  return tiles.predictor >= 1 && tiles.predictor <= (is_floating(tiles.type) ? 3 : 2);
}

}  // namespace sepconv
