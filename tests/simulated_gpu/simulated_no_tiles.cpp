// Tile coding of the simulated GPU for builds with an installed sepconv, which lacks the TIFF encoder that
// simulated_tiles.cpp uses. It rejects all tiles, so that the CPU decodes them.
#include <algorithm>

#include "simulated_gpu.hpp"

namespace sepconv::simulated {

void encode_tiles(const ConstPixelView&, const EncodedTiles&, std::byte*, std::byte*, EncodedTile*,
                  DeviceStream) {
  throw DeviceError("this backend codes no tiles; use the CPU");
}

void decode_tiles(const std::byte*, const EncodedTile*, const EncodedTiles& tiles, Extent part, std::byte*,
                  std::int32_t* refused, DeviceStream stream) {
  enqueue(stream, [=] { std::fill_n(refused, tiles.grid(part).area(), 1); });
}

void unpredict_tiles(const std::byte*, const std::int32_t*, const EncodedTiles&, Extent, const Rect&,
                     const PixelView&, DeviceStream) {}

}  // namespace sepconv::simulated
