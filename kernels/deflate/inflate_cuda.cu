// Decodes deflate streams. Decoding one stream is sequential, so streams run in parallel: one warp per
// stream, whose lanes all follow the stream's bits and share the work of building tables and copying.
// Predicted pixels are mostly literals; a table lookup gives up to three of them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cub/block/block_reduce.cuh>

#include "kernels/codec/decode_tiles.cuh"
#include "kernels/deflate/crc32_block.cuh"
#include "kernels/deflate/stream_decoder.hpp"

namespace sepconv::engine {
namespace {

constexpr int kCheckThreads = crc32::kThreads;
using deflate::kAdlerBase;

__global__ void __launch_bounds__(32)
    inflate_kernel(const std::byte* encoded, const EncodedTile* streams, TileGrid grid, BlockCodec codec,
                   std::byte* decoded, std::int32_t* refused, std::uint32_t* checksums) {
  __shared__ deflate::StreamTables tables;
  const std::int64_t index = blockIdx.x;
  const EncodedTile stream = streams[index];
  deflate::StreamDecoder<Warp> decoder(encoded + stream.offset, stream.bytes, codec,
                                       decoded + index * grid.stride, grid.bytes(index), tables);
  const bool good = stream.bytes > 0 && decoder.run();
  if (threadIdx.x == 0) {
    refused[index] = good ? 0 : 1;
    checksums[index] = decoder.checksum();
  }
}

/// Compares the Adler-32 (RFC 1950, 8.2) of each tile with the stream's.
__global__ void check_adler(const std::byte* decoded, TileGrid grid, const std::uint32_t* checksums,
                            std::int32_t* refused) {
  const std::int64_t index = blockIdx.x;
  if (refused[index] != 0) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(decoded + index * grid.stride);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(bytes);
  const std::int64_t size = grid.bytes(index);
  std::uint64_t sum = 0, weighted = 0;
  for (std::int64_t word = threadIdx.x; word < size / 4; word += kCheckThreads) {
    const std::uint32_t word_value = words[word];
    const unsigned byte_sum = __dp4a(word_value, 0x01010101U, 0U);
    sum += byte_sum;
    weighted += static_cast<std::uint64_t>(size - 4 * word) * byte_sum - __dp4a(word_value, 0x03020100U, 0U);
  }
  for (std::int64_t i = size / 4 * 4 + threadIdx.x; i < size; i += kCheckThreads) {
    sum += bytes[i];
    weighted += static_cast<std::uint64_t>(size - i) * bytes[i];
  }
  using Reduce = cub::BlockReduce<std::uint64_t, kCheckThreads>;
  __shared__ typename Reduce::TempStorage storage;
  sum = Reduce(storage).Sum(sum);
  __syncthreads();
  weighted = Reduce(storage).Sum(weighted);
  if (threadIdx.x != 0) return;
  const std::uint64_t low = (1 + sum) % kAdlerBase;
  const std::uint64_t high = (static_cast<std::uint64_t>(size) + weighted) % kAdlerBase;
  if ((high << 16 | low) != checksums[index]) refused[index] = 1;
}

/// The same for CRC-32 (RFC 1952, 2.3.1).
__global__ void check_crc(const std::byte* decoded, TileGrid grid, const std::uint32_t* checksums,
                          std::int32_t* refused) {
  const std::int64_t index = blockIdx.x;
  if (refused[index] != 0) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(decoded + index * grid.stride);
  const std::uint32_t checksum = crc32::checksum_in_block(bytes, grid.bytes(index));
  if (threadIdx.x == 0 && checksum != checksums[index]) refused[index] = 1;
}

}  // namespace

void inflate(const std::byte* encoded, const EncodedTile* streams, const TileGrid& grid, std::int64_t count,
             BlockCodec codec, std::byte* decoded, std::int32_t* refused, std::uint32_t* checksums,
             DeviceStream stream) {
  const auto blocks = static_cast<unsigned>(count);
  inflate_kernel<<<blocks, 32, 0, stream>>>(encoded, streams, grid, codec, decoded, refused, checksums);
  check_cuda(cudaGetLastError(), "decoding deflate streams");
  const auto check = codec == BlockCodec::gzip ? check_crc : check_adler;
  check<<<blocks, kCheckThreads, 0, stream>>>(decoded, grid, checksums, refused);
  check_cuda(cudaGetLastError(), "checking decoded tiles");
}

}  // namespace sepconv::engine
