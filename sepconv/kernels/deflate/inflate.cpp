#include "sepconv/kernels/deflate/inflate.hpp"

#include "sepconv/core/memory.hpp"

namespace sepconv {

std::int64_t decoded_tile_bytes(const CodedTiles& tiles) noexcept {
  return round_up(tiles.bytes(), kAlignment);
}

std::int64_t inflate_tiles_bytes(const CodedTiles& tiles, std::int64_t count) noexcept {
  return count * (decoded_tile_bytes(tiles) + static_cast<std::int64_t>(sizeof(std::uint32_t)));
}

bool can_inflate_tiles(const CodedTiles& tiles) noexcept {
  return !is_floating(tiles.type) && size_of(tiles.type) <= 2 &&
         (tiles.predictor == 1 || tiles.predictor == 2);
}

}  // namespace sepconv
