// Encodes tiles as zstd frames, with the same bytes as zstd::RasterCoder on the CPU.
#pragma once

#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::zstd {

/// Encodes tiles after prediction. `encoded` must be zeros. Enqueues on `stream`.
void encode_frames(const deflate::DeviceTiles& tiles, std::byte* encoded, EncodedTile* entries,
                   DeviceStream stream);

}  // namespace sepconv::zstd
