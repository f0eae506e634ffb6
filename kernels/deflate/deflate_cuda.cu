// Encodes tiles on the device. Deflate takes four steps: apply the predictor, plan the blocks, compute the
// offsets, write the streams. The format of a block is defined in core/deflate/, which the CPU encoder uses,
// too.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/deflate/predict_tiles.cuh"
#include "kernels/deflate/write_blocks.cuh"
#include "kernels/zstd/encode_frames.cuh"

namespace sepconv::engine {
namespace {

constexpr std::int64_t kMaxPredictBlocks = 1 << 16;

template <class Word>
void launch_predict(const ConstPixelView& in, const EncodedTiles& coded, const deflate::DeviceTiles& tiles,
                    DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(std::min(tiles.tiles * tiles.rows, kMaxPredictBlocks));
  deflate::predict_tiles<Word><<<blocks, deflate::kThreads, 0, stream>>>(
      device::Rows(in), in.extent.cols, coded.tile.cols, coded.channels, coded.predictor,
      coded.fill.has_value(), static_cast<Word>(coded.fill.value_or(0)), tiles);
}

void launch_deflate(const deflate::DeviceTiles& tiles, std::byte* encoded, EncodedTile* entries,
                    DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(tiles.tiles * tiles.blocks);
  deflate::plan_blocks<<<blocks, deflate::kThreads, 0, stream>>>(tiles);
  deflate::locate_streams<deflate::DeflateStreams>
      <<<1, deflate::kLocateThreads, 0, stream>>>(tiles, encoded, entries);
  deflate::write_blocks<<<blocks, deflate::kThreads, 0, stream>>>(tiles, encoded, entries);
  if (tiles.is_gzip)
    deflate::write_trailers<<<static_cast<unsigned>(tiles.tiles), crc32::kThreads, 0, stream>>>(
        tiles, encoded, entries);
}

}  // namespace

void encode_tiles(const ConstPixelView& in, const EncodedTiles& coded, std::byte* scratch, std::byte* encoded,
                  EncodedTile* entries, DeviceStream stream) {
  const deflate::DeviceTiles tiles(coded, in.extent, scratch);
  const auto encoded_bytes = static_cast<std::size_t>(encode_tiles_max_bytes(coded, in.extent));
  check_cuda(cudaMemsetAsync(encoded, 0, encoded_bytes, stream), "clearing memory for encoded tiles");
  switch (size_of(coded.type)) {
    case 1:
      launch_predict<std::uint8_t>(in, coded, tiles, stream);
      break;
    case 2:
      launch_predict<std::uint16_t>(in, coded, tiles, stream);
      break;
    case 4:
      launch_predict<std::uint32_t>(in, coded, tiles, stream);
      break;
    default:
      launch_predict<std::uint64_t>(in, coded, tiles, stream);
  }
  if (coded.codec == BlockCodec::zstd) {
    zstd::encode_frames(tiles, encoded, entries, stream);
  } else {
    launch_deflate(tiles, encoded, entries, stream);
  }
  check_cuda(cudaGetLastError(), "launching the coding of tiles");
}

}  // namespace sepconv::engine
