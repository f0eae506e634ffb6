// Decodes LZ4 blocks, one warp per block.
#include <cuda_runtime.h>

#include "kernels/codec/decode_tiles.cuh"
#include "kernels/lz4/block_decoder.hpp"

namespace sepconv::engine {
namespace {

__global__ void __launch_bounds__(32) lz4_kernel(const std::byte* encoded, const EncodedTile* streams,
                                                 TileGrid grid, std::byte* decoded, std::int32_t* refused) {
  const std::int64_t index = blockIdx.x;
  const EncodedTile stream = streams[index];
  lz4::BlockDecoder<Warp> decoder(encoded + stream.offset, stream.bytes, decoded + index * grid.stride,
                                  grid.bytes(index));
  const bool good = decoder.run();
  if (threadIdx.x == 0) refused[index] = good ? 0 : 1;
}

}  // namespace

void decode_lz4(const std::byte* encoded, const EncodedTile* streams, const TileGrid& grid,
                std::int64_t count, std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  lz4_kernel<<<static_cast<unsigned>(count), 32, 0, stream>>>(encoded, streams, grid, decoded, refused);
  check_cuda(cudaGetLastError(), "decoding blocks of LZ4");
}

}  // namespace sepconv::engine
