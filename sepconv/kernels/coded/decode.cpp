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

bool can_decode_tiles(const CodedTiles& tiles) noexcept {
  return tiles.predictor >= 1 && tiles.predictor <= (is_floating(tiles.type) ? 3 : 2);
}

}  // namespace sepconv
