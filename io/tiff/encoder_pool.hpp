// What compressed writers of one file take turns with: the image and those of its levels that have blocks
// like its own.
#pragma once

#include <vector>

#include "io/lease_pool.hpp"
#include "io/tiff/block_encoder.hpp"

namespace sepconv {

struct EncoderPool {
  ObjectPool<BlockEncoder> encoders;
  ObjectPool<Buffer> split;           ///< blocks whose pixels came with alpha, without it, or their masks
  std::vector<EncodedBlock> encoded;  ///< held until all of their batch are there, to be placed in order
};

}  // namespace sepconv
