// Encodes tiles as zstd frames on the device in three steps: plan the blocks, compute the offsets, write the
// frames. The format of a block is defined in core/zstd/, which the CPU encoder uses, too.
#include <cuda_runtime.h>

#include "kernels/zstd/encode_frames.cuh"
#include "kernels/zstd/write_frames.cuh"

namespace sepconv::zstd {

void encode_frames(const DeviceTiles& tiles, std::byte* encoded, EncodedTile* entries, DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(tiles.tiles * tiles.blocks);
  plan_frames<<<blocks, kThreads, 0, stream>>>(tiles);
  deflate::locate_streams<Frames><<<1, deflate::kLocateThreads, 0, stream>>>(tiles, encoded, entries);
  const unsigned checksum_blocks =
      tiles.has_checksum ? static_cast<unsigned>(ceil_div(tiles.tiles, std::int64_t{kWarps})) : 0;
  write_frames<<<checksum_blocks + blocks, kThreads, 0, stream>>>(tiles, checksum_blocks, encoded, entries);
}

}  // namespace sepconv::zstd
