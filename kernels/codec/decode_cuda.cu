// Decodes tiles and converts them to pixels by undoing predictor and byte order.
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
  std::int64_t first_grid_col, grid_cols;  // columns of tiles in the part
  unsigned shown_cols;                     // columns of tiles that `shown` touches
};

/// One warp per row of a tile.
template <class Word>
__global__ void unpredict_kernel(const std::byte* decoded, const std::int32_t* refused, TileGrid grid,
                                 Unpredict params, std::byte* out, std::int64_t out_pitch_bytes) {
  const std::int64_t row =
      params.shown.row + blockIdx.x / params.shown_cols * std::int64_t{kRowWarps} + threadIdx.y;
  if (row >= params.shown.row + params.shown.rows) return;
  const std::int64_t grid_col = params.first_grid_col + blockIdx.x % params.shown_cols;
  const std::int64_t index = row / params.tile.rows * params.grid_cols + grid_col;
  if (refused[index] != 0) return;
  const std::int64_t left = grid_col * params.tile.cols;
  const std::int64_t begin = max(params.shown.col - left, std::int64_t{0});
  const DecodedRow from{decoded + index * grid.stride + row % params.tile.rows * grid.row_bytes,
                        params.tile.cols,
                        params.channels,
                        params.predictor,
                        params.swaps,
                        begin,
                        min(params.shown.col + params.shown.cols - left, params.tile.cols)};
  auto* const to = reinterpret_cast<Word*>(out + (row - params.shown.row) * out_pitch_bytes);
  unpredict_row(Warp(), from, to + (left + begin - params.shown.col) * params.channels);
}

auto* unpredict_kernel_for(PixelType type) {
  switch (size_of(type)) {
    case 1:
      return unpredict_kernel<std::uint8_t>;
    case 2:
      return unpredict_kernel<std::uint16_t>;
    case 4:
      return unpredict_kernel<std::uint32_t>;
    default:
      return unpredict_kernel<std::uint64_t>;
  }
}

}  // namespace

void decode_tiles(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                  Extent part, std::byte* decoded, std::int32_t* refused, DeviceStream stream) {
  const TileGrid grid = grid_of(tiles, part);
  const std::int64_t count = tiles.grid(part).area();
  std::byte* const scratch = decoded + count * grid.stride;
  switch (tiles.codec) {
    case BlockCodec::zstd:
      return decode_zstd(encoded, streams, grid, count, decoded, refused, scratch,
                         scratch_bytes_per_tile(tiles), stream);
    case BlockCodec::lz4:
      return decode_lz4(encoded, streams, grid, count, decoded, refused, stream);
    case BlockCodec::jpeg:
      return decode_jpeg(encoded, streams, tiles, grid, count, decoded, refused, scratch, stream);
    default:
      return inflate(encoded, streams, grid, count, tiles.codec, decoded, refused,
                     reinterpret_cast<std::uint32_t*>(scratch), stream);
  }
}

void unpredict_tiles(const std::byte* decoded, const std::int32_t* refused, const EncodedTiles& tiles,
                     Extent part, const Rect& shown, const PixelView& out, DeviceStream stream) {
  const TileGrid grid = grid_of(tiles, part);
  const std::int64_t first = shown.col / tiles.tile.cols;
  const std::int64_t cols = ceil_div(shown.col_end(), tiles.tile.cols) - first;
  const Unpredict params{
      tiles.tile,     static_cast<int>(tiles.channels), tiles.predictor, tiles.big_endian, shown, first,
      grid.grid_cols, static_cast<unsigned>(cols)};
  const auto blocks = static_cast<unsigned>(ceil_div(shown.rows, std::int64_t{kRowWarps}) * cols);
  const dim3 threads(32, kRowWarps);
  unpredict_kernel_for(tiles.type)<<<blocks, threads, 0, stream>>>(decoded, refused, grid, params, out.data,
                                                                   out.pitch_bytes);
  check_cuda(cudaGetLastError(), "undoing the predictor of decoded tiles");
}

}  // namespace sepconv::engine
