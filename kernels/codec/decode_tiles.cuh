// The tile decoders on the device, one function per codec.
#pragma once

#include <cuda_runtime.h>

#include "kernels/codec/decode.hpp"

namespace sepconv::engine {

/// Positions and sizes of decoded tiles.
struct TileGrid {
  std::int64_t tile_rows, row_bytes, tile_bytes, stride, grid_cols, part_rows;
  bool pads;

  __host__ __device__ std::int64_t bytes(std::int64_t index) const {
    if (pads) return tile_bytes;
    const std::int64_t left = part_rows - index / grid_cols * tile_rows;
    return (left < tile_rows ? left : tile_rows) * row_bytes;
  }
};

inline TileGrid grid_of(const EncodedTiles& tiles, Extent part) {
  const std::int64_t row_bytes = tiles.tile.cols * tiles.channels * size_of(tiles.type);
  return {tiles.tile.rows,
          row_bytes,
          tiles.tile.rows * row_bytes,
          decoded_tile_bytes(tiles),
          ceil_div(part.cols, tiles.tile.cols),
          part.rows,
          tiles.pads};
}

/// Decodes zlib or gzip streams; `checksums`: space for one per tile.
void inflate(const std::byte* encoded, const EncodedTile* streams, const TileGrid& grid, std::int64_t count,
             BlockCodec codec, std::byte* decoded, std::int32_t* refused, std::uint32_t* checksums,
             DeviceStream stream);
/// `literals`: `literal_bytes` bytes per tile.
void decode_zstd(const std::byte* encoded, const EncodedTile* streams, const TileGrid& grid,
                 std::int64_t count, std::byte* decoded, std::int32_t* refused, std::byte* literals,
                 std::int64_t literal_bytes, DeviceStream stream);
/// `coefficients`: scratch_bytes_per_tile() bytes per tile.
void decode_jpeg(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                 const TileGrid& grid, std::int64_t count, std::byte* decoded, std::int32_t* refused,
                 std::byte* coefficients, DeviceStream stream);
void decode_lz4(const std::byte* encoded, const EncodedTile* streams, const TileGrid& grid,
                std::int64_t count, std::byte* decoded, std::int32_t* refused, DeviceStream stream);

}  // namespace sepconv::engine
