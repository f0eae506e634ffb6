// Decoded tiles, and their pixels: their predictor and byte order undone.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/codec/decode_scratch.hpp"
#include "kernels/codec/decode_tiles.cuh"
#include "kernels/codec/unpredict_row.hpp"

namespace sepconv::engine {
namespace {

constexpr int kRowWarps = 8;

struct Unpredict {
  Extent tile;
  int channels, predictor;
  bool swaps;
  Rect shown;
  std::int64_t first_grid_col, grid_cols;  // of the part
  unsigned shown_cols;                     // of tiles
};

/// A warp a row of a tile.
template <class Word>
__global__ void place_kernel(const std::byte* decoded, const std::int32_t* refused, TileGrid grid,
                             Unpredict place, std::byte* out, std::int64_t out_pitch_bytes) {
  const std::int64_t row =
      place.shown.row + blockIdx.x / place.shown_cols * std::int64_t{kRowWarps} + threadIdx.y;
  if (row >= place.shown.row + place.shown.rows) return;
  const std::int64_t grid_col = place.first_grid_col + blockIdx.x % place.shown_cols;
  const std::int64_t index = row / place.tile.rows * place.grid_cols + grid_col;
  if (refused[index] != 0) return;
  const std::int64_t left = grid_col * place.tile.cols;
  const std::int64_t begin = max(place.shown.col - left, std::int64_t{0});
  const DecodedRow from{decoded + index * grid.stride + row % place.tile.rows * grid.row_bytes,
                        place.tile.cols,
                        place.channels,
                        place.predictor,
                        place.swaps,
                        begin,
                        min(place.shown.col + place.shown.cols - left, place.tile.cols)};
  auto* const to = reinterpret_cast<Word*>(out + (row - place.shown.row) * out_pitch_bytes);
  unpredict_row(Warp(), from, to + (left + begin - place.shown.col) * place.channels);
}

auto* place_kernel_of(PixelType type) {
  switch (size_of(type)) {
    case 1:
      return place_kernel<std::uint8_t>;
    case 2:
      return place_kernel<std::uint16_t>;
    case 4:
      return place_kernel<std::uint32_t>;
    default:
      return place_kernel<std::uint64_t>;
  }
}

}  // namespace

void decode_tiles(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                  Extent part, std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  const TileGrid grid = grid_of(tiles, part);
  const std::int64_t count = tiles.grid(part).area();
  std::byte* const beside = decoded + count * grid.stride;
  switch (tiles.codec) {
    case BlockCodec::zstd:
      return decode_zstd(encoded, streams, grid, count, decoded, refused, beside, scratch_per_tile(tiles),
                         stream);
    case BlockCodec::lz4:
      return decode_lz4(encoded, streams, grid, count, decoded, refused, stream);
    case BlockCodec::jpeg:
      return decode_jpeg(encoded, streams, tiles, grid, count, decoded, refused, beside, stream);
    default:
      return inflate(encoded, streams, grid, count, tiles.codec, decoded, refused,
                     reinterpret_cast<std::uint32_t*>(beside), stream);
  }
}

void unpredict_tiles(const std::byte* decoded, const std::int32_t* refused, const EncodedTiles& tiles,
                     Extent part, const Rect& shown, const PixelView& out, DeviceStream stream) {
  const TileGrid grid = grid_of(tiles, part);
  const std::int64_t first = shown.col / tiles.tile.cols;
  const std::int64_t cols = ceil_div(shown.col_end(), tiles.tile.cols) - first;
  const Unpredict place{
      tiles.tile,     static_cast<int>(tiles.channels), tiles.predictor, tiles.big_endian, shown, first,
      grid.grid_cols, static_cast<unsigned>(cols)};
  const auto blocks = static_cast<unsigned>(ceil_div(shown.rows, std::int64_t{kRowWarps}) * cols);
  const dim3 threads(32, kRowWarps);
  place_kernel_of(tiles.type)<<<blocks, threads, 0, stream>>>(decoded, refused, grid, place, out.data,
                                                              out.pitch_bytes);
  check_cuda(cudaGetLastError(), "placing decoded tiles");
}

}  // namespace sepconv::engine
