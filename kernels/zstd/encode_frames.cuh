// Tiles to frames of zstd: the bytes that zstd::RasterCoder makes of them on the CPU.
#pragma once

#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::zstd {

/// For tiles that are predicted. `encoded` is zeros. Enqueues on `stream`.
void encode_frames(const deflate::DeviceTiles& tiles, std::byte* encoded, EncodedTile* entries,
                   DeviceStream stream);

}  // namespace sepconv::zstd
