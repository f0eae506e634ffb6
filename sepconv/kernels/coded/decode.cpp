#include "sepconv/kernels/coded/decode.hpp"

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/coded/decode_room.hpp"

namespace sepconv {

std::int64_t decoded_tile_bytes(const CodedTiles& tiles) noexcept {
  return round_up(tiles.bytes(), kAlignment);
}

std::int64_t decode_tiles_bytes(const CodedTiles& tiles, std::int64_t count) noexcept {
  return count * (decoded_tile_bytes(tiles) + beside_tile_bytes(tiles));
}

namespace {

bool can_decode_jpeg(const CodedTiles& tiles) noexcept {
  constexpr std::int64_t kMostSide = 65535;
  const bool is_whole = tiles.chroma_cols == 1 && tiles.chroma_rows == 1;
  const bool is_halved = tiles.chroma_cols == 2 && (tiles.chroma_rows == 1 || tiles.chroma_rows == 2);
  const bool fits = tiles.channels == 3 ? is_whole || (tiles.is_ycbcr && is_halved)
                                        : tiles.channels == 1 && is_whole && !tiles.is_ycbcr;
  return fits && tiles.type == PixelType::u8 && tiles.predictor == 1 && tiles.tile.rows <= kMostSide &&
         tiles.tile.cols <= kMostSide;
}

}  // namespace

bool can_decode_tiles(const CodedTiles& tiles) noexcept {
  if (tiles.codec == BlockCodec::jpeg) return can_decode_jpeg(tiles);
  return tiles.predictor >= 1 && tiles.predictor <= (is_floating(tiles.type) ? 3 : 2);
}

}  // namespace sepconv
