// Decoded tiles, and their pixels: their predictor and byte order undone.
#include <cuda_runtime.h>

#include <algorithm>

#include "sepconv/kernels/coded/decode_room.hpp"
#include "sepconv/kernels/coded/decode_tiles.cuh"

namespace sepconv::engine {
namespace {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr int kRowWarps = 8;

/// `value` and those of all lanes below.
template <class T>
__device__ T sum_up_to(T value, unsigned lane) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(kAllLanes, static_cast<unsigned>(value), step);
    if (lane >= step) value = static_cast<T>(value + below);
  }
  return value;
}

struct Placing {
  Extent tile;
  int channels, predictor;
  bool swaps;
  Rect shown;
  std::int64_t first_grid_col, grid_cols;  // of the part
  unsigned shown_cols;                     // of tiles
};

template <class T>
__device__ T native(T value, bool swaps) {
  if constexpr (sizeof(T) == 2) return swaps ? static_cast<T>(value << 8 | value >> 8) : value;
  return value;
}

/// A warp a row of a tile.
template <class T>
__global__ void place_kernel(const std::byte* decoded, const std::int32_t* refused, TileGrid grid,
                             Placing place, std::byte* out, std::int64_t out_pitch_bytes) {
  const auto lane = threadIdx.x;
  const std::int64_t row =
      place.shown.row + blockIdx.x / place.shown_cols * std::int64_t{kRowWarps} + threadIdx.y;
  if (row >= place.shown.row + place.shown.rows) return;
  const std::int64_t grid_col = place.first_grid_col + blockIdx.x % place.shown_cols;
  const std::int64_t index = row / place.tile.rows * place.grid_cols + grid_col;
  if (refused[index] != 0) return;
  const auto* const from =
      reinterpret_cast<const T*>(decoded + index * grid.stride + row % place.tile.rows * grid.row_bytes);
  const std::int64_t left = grid_col * place.tile.cols;
  const std::int64_t begin = max(place.shown.col - left, std::int64_t{0});
  const std::int64_t end = min(place.shown.col + place.shown.cols - left, place.tile.cols);
  auto* const to = reinterpret_cast<T*>(out + (row - place.shown.row) * out_pitch_bytes) +
                   (left - place.shown.col) * place.channels;
  const std::int64_t first = place.predictor == 1 ? begin / 32 * 32 : 0;
  for (int channel = 0; channel < place.channels; ++channel) {
    T before = 0;
    for (std::int64_t chunk = first; chunk < end; chunk += 32) {
      const std::int64_t col = chunk + lane;
      T value = col < end ? native(from[col * place.channels + channel], place.swaps) : T{0};
      if (place.predictor != 1) {
        value = static_cast<T>(sum_up_to(value, lane) + before);
        before = static_cast<T>(__shfl_sync(kAllLanes, static_cast<unsigned>(value), 31));
      }
      if (col >= begin && col < end) to[col * place.channels + channel] = value;
    }
  }
}

}  // namespace

void decode_tiles(const std::byte* encoded, const EncodedTile* streams, const CodedTiles& tiles, Extent part,
                  std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  const TileGrid grid = grid_of(tiles, part);
  const std::int64_t count = tiles.grid(part).area();
  std::byte* const beside = decoded + count * grid.stride;
  switch (tiles.codec) {
    case BlockCodec::zstd:
      return decode_zstd(encoded, streams, grid, count, decoded, refused, beside, beside_tile_bytes(tiles),
                         stream);
    case BlockCodec::lz4:
      return decode_lz4(encoded, streams, grid, count, decoded, refused, stream);
    default:
      return inflate(encoded, streams, grid, count, tiles.codec, decoded, refused,
                     reinterpret_cast<std::uint32_t*>(beside), stream);
  }
}

void place_tiles(const std::byte* decoded, const std::int32_t* refused, const CodedTiles& tiles, Extent part,
                 const Rect& shown, const PixelView& out, DeviceStream stream) {
  const TileGrid grid = grid_of(tiles, part);
  const std::int64_t first = shown.col / tiles.tile.cols;
  const std::int64_t cols = ceil_div(shown.col_end(), tiles.tile.cols) - first;
  const Placing place{
      tiles.tile,     static_cast<int>(tiles.channels), tiles.predictor, tiles.big_endian, shown, first,
      grid.grid_cols, static_cast<unsigned>(cols)};
  const auto blocks = static_cast<unsigned>(ceil_div(shown.rows, std::int64_t{kRowWarps}) * cols);
  const dim3 threads(32, kRowWarps);
  const auto kernel = size_of(tiles.type) == 1 ? place_kernel<std::uint8_t> : place_kernel<std::uint16_t>;
  kernel<<<blocks, threads, 0, stream>>>(decoded, refused, grid, place, out.data, out.pitch_bytes);
  check_cuda(cudaGetLastError(), "placing decoded tiles");
}

}  // namespace sepconv::engine
