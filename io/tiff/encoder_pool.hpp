// Encoders and buffers shared by the compressed writers of a file: of the image and of its levels with equal
// blocks.
#pragma once

#include <vector>

#include "io/object_pool.hpp"
#include "io/tiff/block_encoder.hpp"

namespace sepconv {

struct EncoderPool {
  ObjectPool<BlockEncoder> encoders;
  ObjectPool<Buffer> split;           ///< blocks without the alpha of their pixels, or their masks
  std::vector<EncodedBlock> encoded;  ///< buffered until their batch is complete and can be placed in order
};

}  // namespace sepconv
