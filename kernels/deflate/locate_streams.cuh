// Computes the offsets of the tiles' streams once their sizes are known.
#pragma once

#include <cuda_runtime.h>

#include <cub/block/block_scan.cuh>

#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::deflate {

constexpr int kLocateThreads = 1024;

/// Writes the lowest `count` bytes of the number.
__device__ inline void write_little_endian(std::uint64_t number, int count, std::uint8_t* to) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

/// Runs in one thread block. Computes the offsets of all streams and writes the bytes before and after their blocks.
/// `Streams` has locate(tiles, tile), which computes the offsets of a tile's blocks in its stream and returns
/// an End with the stream's size, and put(tiles, tile, end, stream), which writes the header and trailer.
template <class Streams>
__global__ void __launch_bounds__(kLocateThreads)
    locate_streams(const DeviceTiles tiles, std::byte* encoded, EncodedTile* entries) {
  using Scan = cub::BlockScan<std::int64_t, kLocateThreads>;
  __shared__ typename Scan::TempStorage storage;
  std::int64_t begin = 0;
  for (std::int64_t first = 0; first < tiles.tiles; first += kLocateThreads) {
    const std::int64_t tile = first + threadIdx.x;
    const typename Streams::End end =
        tile < tiles.tiles ? Streams::locate(tiles, tile) : typename Streams::End{};
    std::int64_t offset = 0, chunk_total = 0;
    Scan(storage).ExclusiveSum((end.bytes + kStreamAlignment - 1) / kStreamAlignment * kStreamAlignment,
                               offset, chunk_total);
    __syncthreads();  // before the storage is used again
    if (tile < tiles.tiles) {
      entries[tile] = {begin + offset, end.bytes};
      auto* const stream = reinterpret_cast<std::uint8_t*>(encoded) + begin + offset;
      Streams::put(tiles, tile, end, stream);
    }
    begin += chunk_total;
  }
  if (threadIdx.x == 0) entries[tiles.tiles] = {begin, 0};
}

}  // namespace sepconv::deflate
