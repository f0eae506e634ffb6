// Argument checks of tile encoding. Private to this folder and its launchers.
#pragma once

#include "kernels/deflate/tiles.hpp"

namespace sepconv {

/// Throws InvalidArgument unless the pixels of `part` match `tiles`.
void check_tiles(const EncodedTiles& tiles, const ConstPixelView& part);

}  // namespace sepconv
