// Decodes zstd frames, one warp per frame.
#include <cuda_runtime.h>

#include "kernels/codec/decode_tiles.cuh"
#include "kernels/zstd/frame_decoder.hpp"

namespace sepconv::engine {
namespace {

__global__ void __launch_bounds__(32)
    zstd_kernel(const std::byte* encoded, const EncodedTile* streams, TileGrid grid, std::byte* decoded,
                std::int32_t* refused, std::byte* literals, std::int64_t literal_bytes) {
  __shared__ zstd::Tables tables;
  const std::int64_t index = blockIdx.x;
  const EncodedTile stream = streams[index];
  zstd::FrameDecoder<Warp> decoder(encoded + stream.offset, stream.bytes, decoded + index * grid.stride,
                                   grid.bytes(index), literals + index * literal_bytes, tables);
  const bool good = decoder.run();
  if (threadIdx.x == 0) refused[index] = good ? 0 : 1;
}

}  // namespace

void decode_zstd(const std::byte* encoded, const EncodedTile* streams, const TileGrid& grid,
                 std::int64_t count, std::byte* decoded, std::int32_t* refused, std::byte* literals,
                 std::int64_t literal_bytes, DeviceStream stream) {
  zstd_kernel<<<static_cast<unsigned>(count), 32, 0, stream>>>(encoded, streams, grid, decoded, refused,
                                                               literals, literal_bytes);
  check_cuda(cudaGetLastError(), "decoding frames of zstd");
}

}  // namespace sepconv::engine
