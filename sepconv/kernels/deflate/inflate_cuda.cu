// Deflate streams decoded by warps. A stream is decoded in order, so what is parallel are the streams: a warp
// each, whose lanes all follow the stream's bits and share the work of tables and copies. Predicted pixels
// are literals for the most part; a look into the table gives up to three of them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cub/block/block_reduce.cuh>

#include "sepconv/kernels/deflate/inflate.hpp"
#include "sepconv/kernels/deflate/warp_inflater.cuh"

namespace sepconv::engine {
namespace {

constexpr int kAdlerThreads = 256;
constexpr unsigned kAdlerBase = 65521;
constexpr int kRowWarps = 8;

/// Rows of tile `index`, and where it begins.
struct Grid {
  std::int64_t tile_rows, row_bytes, tile_bytes, stride, grid_cols, part_rows;
  bool pads;

  __host__ __device__ std::int64_t bytes(std::int64_t index) const {
    if (pads) return tile_bytes;
    const std::int64_t left = part_rows - index / grid_cols * tile_rows;
    return (left < tile_rows ? left : tile_rows) * row_bytes;
  }
};

Grid grid_of(const CodedTiles& tiles, Extent part) {
  const std::int64_t row_bytes = tiles.tile.cols * tiles.channels * size_of(tiles.type);
  return {tiles.tile.rows,
          row_bytes,
          tiles.tile.rows * row_bytes,
          decoded_tile_bytes(tiles),
          ceil_div(part.cols, tiles.tile.cols),
          part.rows,
          tiles.pads};
}

__global__ void __launch_bounds__(32)
    inflate_kernel(const std::byte* encoded, const EncodedTile* streams, Grid grid, std::byte* decoded,
                   std::int32_t* refused, std::uint32_t* checksums) {
  __shared__ InflateTables tables;
  const std::int64_t index = blockIdx.x;
  const EncodedTile stream = streams[index];
  WarpInflater inflater(encoded + stream.offset, stream.bytes, decoded + index * grid.stride,
                        grid.bytes(index), tables);
  const bool good = stream.bytes > 0 && inflater.run();
  if (threadIdx.x == 0) {
    refused[index] = good ? 0 : 1;
    checksums[index] = inflater.checksum();
  }
}

/// Adler-32 (RFC 1950, 8.2) of each tile against its stream's.
__global__ void check_kernel(const std::byte* decoded, Grid grid, const std::uint32_t* checksums,
                             std::int32_t* refused) {
  const std::int64_t index = blockIdx.x;
  if (refused[index] != 0) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(decoded + index * grid.stride);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(bytes);
  const std::int64_t size = grid.bytes(index);
  std::uint64_t sum = 0, weighted = 0;
  for (std::int64_t word = threadIdx.x; word < size / 4; word += kAdlerThreads) {
    const std::uint32_t four = words[word];
    const unsigned plain = __dp4a(four, 0x01010101U, 0U);
    sum += plain;
    weighted += static_cast<std::uint64_t>(size - 4 * word) * plain - __dp4a(four, 0x03020100U, 0U);
  }
  for (std::int64_t i = size / 4 * 4 + threadIdx.x; i < size; i += kAdlerThreads) {
    sum += bytes[i];
    weighted += static_cast<std::uint64_t>(size - i) * bytes[i];
  }
  using Reduce = cub::BlockReduce<std::uint64_t, kAdlerThreads>;
  __shared__ typename Reduce::TempStorage storage;
  sum = Reduce(storage).Sum(sum);
  __syncthreads();
  weighted = Reduce(storage).Sum(weighted);
  if (threadIdx.x != 0) return;
  const std::uint64_t low = (1 + sum) % kAdlerBase;
  const std::uint64_t high = (static_cast<std::uint64_t>(size) + weighted) % kAdlerBase;
  if ((high << 16 | low) != checksums[index]) refused[index] = 1;
}

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
__global__ void place_kernel(const std::byte* decoded, const std::int32_t* refused, Grid grid, Placing place,
                             std::byte* out, std::int64_t out_pitch_bytes) {
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

void inflate_tiles(const std::byte* encoded, const EncodedTile* streams, const CodedTiles& tiles, Extent part,
                   std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  const Grid grid = grid_of(tiles, part);
  const std::int64_t count = grid.grid_cols * ceil_div(part.rows, tiles.tile.rows);
  // The checksums that streams end with lie behind the last tile.
  auto* const checksums = reinterpret_cast<std::uint32_t*>(decoded + count * grid.stride);
  inflate_kernel<<<static_cast<unsigned>(count), 32, 0, stream>>>(encoded, streams, grid, decoded, refused,
                                                                  checksums);
  check_cuda(cudaGetLastError(), "decoding deflate streams");
  check_kernel<<<static_cast<unsigned>(count), kAdlerThreads, 0, stream>>>(decoded, grid, checksums, refused);
  check_cuda(cudaGetLastError(), "checking decoded tiles");
}

void place_tiles(const std::byte* decoded, const std::int32_t* refused, const CodedTiles& tiles, Extent part,
                 const Rect& shown, const PixelView& out, DeviceStream stream) {
  const Grid grid = grid_of(tiles, part);
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
