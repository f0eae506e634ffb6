// Decodes JPEGs in three steps: one warp decodes the codes of a stream, eight threads transform a block, and
// one thread computes a pixel.
#include <cuda_runtime.h>

#include "kernels/codec/decode_scratch.hpp"
#include "kernels/codec/decode_tiles.cuh"
#include "kernels/jpeg/inverse_dct.hpp"
#include "kernels/jpeg/pixels.hpp"
#include "kernels/jpeg/scan_decoder.hpp"

namespace sepconv::engine {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = kThreads / jpeg::kSide;  // blocks of a JPEG that a thread block transforms
constexpr int kPitch = jpeg::kSide + 1;          // between the passes, without bank conflicts

/// Tiles and their scratch memory.
struct Jpegs {
  TileGrid grid;
  jpeg::Geometry whole;
  bool is_ycbcr;
  std::byte* scratch;
  std::int64_t scratch_bytes;
  unsigned groups;  // thread blocks per tile

  /// The last strip has fewer rows.
  __device__ jpeg::Geometry geometry(std::int64_t index) const {
    jpeg::Geometry geometry = whole;
    geometry.rows = static_cast<std::int32_t>(grid.bytes(index) / grid.row_bytes);
    return geometry;
  }
  __device__ std::byte* coefficients(std::int64_t index) const { return scratch + index * scratch_bytes; }
};

__global__ void __launch_bounds__(32)
    scan_kernel(const std::byte* encoded, const EncodedTile* streams, Jpegs jpegs, std::int32_t* refused) {
  __shared__ jpeg::Tables tables;
  const std::int64_t index = blockIdx.x;
  const EncodedTile stream = streams[index];
  jpeg::ScanDecoder<Warp> decoder(encoded + stream.offset, stream.bytes, jpegs.geometry(index),
                                  jpegs.coefficients(index), tables);
  const bool good = decoder.run();
  if (threadIdx.x == 0) refused[index] = good ? 0 : 1;
}

__global__ void __launch_bounds__(kThreads) transform_kernel(Jpegs jpegs, std::int32_t* refused) {
  __shared__ std::int32_t intermediate[kBlocks][jpeg::kSide * kPitch];
  const std::int64_t index = blockIdx.x / jpegs.groups;
  const int block_in_group = static_cast<int>(threadIdx.x) / jpeg::kSide;
  const int line = static_cast<int>(threadIdx.x) % jpeg::kSide;
  const std::int64_t number = blockIdx.x % jpegs.groups * std::int64_t{kBlocks} + block_in_group;
  // The coefficients of a refused tile are incomplete.
  const bool exists = number < jpegs.geometry(index).blocks() && refused[index] == 0;
  std::byte* const block = jpegs.coefficients(index) + number * jpeg::kBlockBytes;
  bool good = true;
  if (exists)
    good = jpeg::inverse_dct_column(reinterpret_cast<const std::int16_t*>(block), line,
                                    intermediate[block_in_group], kPitch);
  __syncwarp();  // the block has been read and may be overwritten by its samples
  if (exists)
    good = jpeg::inverse_dct_row(intermediate[block_in_group] + line * kPitch,
                                 reinterpret_cast<std::uint8_t*>(block) + line * jpeg::kSide) &&
           good;
  if (!good) refused[index] = 1;
}

__global__ void __launch_bounds__(kThreads)
    pixel_kernel(Jpegs jpegs, const std::int32_t* refused, std::byte* decoded) {
  const std::int64_t index = blockIdx.x / jpegs.groups;
  const jpeg::Geometry geometry = jpegs.geometry(index);
  const std::int64_t pixel = blockIdx.x % jpegs.groups * std::int64_t{kThreads} + threadIdx.x;
  if (refused[index] != 0 || pixel >= std::int64_t{geometry.rows} * geometry.cols) return;
  const auto row = static_cast<std::int32_t>(pixel / geometry.cols);
  const auto col = static_cast<std::int32_t>(pixel % geometry.cols);
  auto* const to = reinterpret_cast<std::uint8_t*>(decoded + index * jpegs.grid.stride);
  jpeg::put_pixel(jpegs.coefficients(index), geometry, jpegs.is_ycbcr, row, col,
                  to + pixel * geometry.components);
}

}  // namespace

void decode_jpeg(const std::byte* encoded, const EncodedTile* streams, const EncodedTiles& tiles,
                 const TileGrid& grid, std::int64_t count, std::byte* decoded, std::int32_t* refused,
                 std::byte* coefficients, DeviceStream stream) {
  Jpegs jpegs{grid,
              jpeg::geometry_of(tiles, tiles.tile.rows),
              tiles.is_ycbcr,
              coefficients,
              scratch_bytes_per_tile(tiles),
              1};
  const auto set_groups = [&](std::int64_t number, int block_in_group) {
    jpegs.groups = static_cast<unsigned>(ceil_div(number, std::int64_t{block_in_group}));
    return static_cast<unsigned>(jpegs.groups * count);
  };
  scan_kernel<<<static_cast<unsigned>(count), 32, 0, stream>>>(encoded, streams, jpegs, refused);
  check_cuda(cudaGetLastError(), "decoding the scans of JPEGs");
  const unsigned transforms = set_groups(jpegs.whole.blocks(), kBlocks);
  transform_kernel<<<transforms, kThreads, 0, stream>>>(jpegs, refused);
  check_cuda(cudaGetLastError(), "transforming the blocks of JPEGs");
  const unsigned pixels = set_groups(tiles.tile.area(), kThreads);
  pixel_kernel<<<pixels, kThreads, 0, stream>>>(jpegs, refused, decoded);
  check_cuda(cudaGetLastError(), "computing the pixels of JPEGs");
}

}  // namespace sepconv::engine
