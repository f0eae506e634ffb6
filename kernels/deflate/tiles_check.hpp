// What coding of tiles asks of its arguments. Private to this folder and its launchers.
#pragma once

#include "kernels/deflate/tiles.hpp"

namespace sepconv {

/// Throws InvalidArgument unless `part` has the pixels that `tiles` says.
void check_tiles(const EncodedTiles& tiles, const ConstPixelView& part);

}  // namespace sepconv
