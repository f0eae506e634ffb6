// Computes the position of each block and writes the streams.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/block_statistics.cuh"
#include "kernels/deflate/crc32_block.cuh"
#include "kernels/deflate/locate_streams.cuh"

namespace sepconv::deflate {

/// The end of a tile's stream, and its checksum.
struct StreamEnd {
  std::int64_t bytes;
  std::uint32_t checksum;
};

__device__ inline StreamEnd locate_blocks(const DeviceTiles& tiles, std::int64_t tile) {
  std::int64_t at = tiles.is_gzip ? 80 : 16;  // after kGzipHeader or kZlibHeader
  std::uint64_t sum = 1, sums = 0;
  for (DeviceBlock block(tiles, tile * tiles.blocks); block.size > 0;
       block = DeviceBlock(tiles, tile * tiles.blocks + block.index + 1)) {
    BlockPlan& plan = tiles.plan<BlockPlan>(tile, block.index);
    plan.bit_offset = at;
    at += plan.bits;
    // The bytes of a stored block begin at a byte boundary, after three bits.
    if (plan.is_stored != 0) at += (8 - (plan.bit_offset + 3) % 8) % 8;
    sums = (sums + static_cast<unsigned>(block.size) * sum + plan.weighted) % kAdlerBase;
    sum = (sum + plan.sum) % kAdlerBase;
    if (block.is_last) break;
  }
  return {(at + 7) / 8 + (tiles.is_gzip ? 8 : 4), static_cast<std::uint32_t>(sums << 16 | sum)};
}

__device__ inline void put_zlib(const StreamEnd& end, std::uint8_t* stream) {
  write_little_endian(kZlibHeader, 2, stream);
  write_little_endian(__byte_perm(end.checksum, 0, 0x0123), 4, stream + end.bytes - 4);
}
/// Writes all but the checksum, for which write_trailers() reads the tile.
__device__ inline void put_gzip(const StreamEnd& end, std::int64_t tile_bytes, std::uint8_t* stream) {
  write_little_endian(kGzipHeader, 8, stream);
  write_little_endian(kGzipSystem, 2, stream + 8);
  write_little_endian(static_cast<std::uint64_t>(tile_bytes), 4, stream + end.bytes - 4);
}

/// The `Streams` of locate_streams() for zlib and gzip.
struct DeflateStreams {
  using End = StreamEnd;
  static __device__ End locate(const DeviceTiles& tiles, std::int64_t tile) {
    return locate_blocks(tiles, tile);
  }
  static __device__ void put(const DeviceTiles& tiles, std::int64_t tile, const End& end,
                             std::uint8_t* stream) {
    tiles.is_gzip ? put_gzip(end, tiles.bytes_of(tile), stream) : put_zlib(end, stream);
  }
};

struct BitCount {
  unsigned bits = 0;
  __device__ void put(std::uint64_t, unsigned count) { bits += count; }
};

struct WriteMemory {
  CodeTable table;
  std::uint32_t covered[2 * kMaskWords];
  /// For each group of kBytesAtOnce bytes: the match that begins there, counted from 1; 0: none.
  std::uint16_t begins[kBlockBytes / kBytesAtOnce];
  typename cub::BlockScan<unsigned, kThreads>::TempStorage storage;
};

/// The part of a block that a thread writes: the literals among its bytes, then the match that begins there.
struct ThreadPart {
  LiteralBytes literals;
  int length = 0;  ///< of the match, or 0
  Value distance{};

  __device__ ThreadPart(const DeviceTiles& tiles, const DeviceBlock& block, const WriteMemory& memory,
                        int first)
      : literals(block.data(tiles), block.size, memory.covered, first) {
    if (first >= block.size) return;
    const int match_number = memory.begins[first / kBytesAtOnce];
    if (match_number == 0) return;
    const BlockMatch match = block.matches(tiles)[match_number - 1];
    length = match.length();
    distance = distance_value(match.is_row_distance != 0 ? tiles.raster.row_distance()
                                                         : tiles.raster.pixel_distance());
  }

  template <class Sink>
  __device__ void put(const CodeTable& table, Sink& sink) const {
#pragma unroll
    for (int i = 0; i < kBytesAtOnce; ++i) {
      if ((literals.mask >> i & 1) == 0) continue;
      const std::uint32_t code = table.lengths[literals.byte(i)];
      sink.put(code & 0xFFFF, code >> 16);
    }
    if (length > 0) put_match(table, length, distance, sink);
  }
};

/// Writes the header of a block. Returns the first bit after it.
__device__ inline std::int64_t write_head(const BlockPlan& plan, int size, std::uint32_t* stream) {
  strided_for(static_cast<int>(plan.head_bits + 31) / 32, [&](int i) {
    const unsigned left = plan.head_bits - 32 * static_cast<unsigned>(i);
    StreamSink sink(stream, plan.bit_offset + 32 * i);
    sink.put(plan.head[i], left < 32 ? left : 32);
    sink.finish();
  });
  const std::int64_t end = plan.bit_offset + plan.head_bits;
  if (plan.is_stored == 0) return end;
  const std::int64_t at = (end + 7) / 8 * 8;
  if (threadIdx.x == 0) {
    StreamSink sink(stream, at);
    sink.put(static_cast<unsigned>(size) | (~static_cast<unsigned>(size) & 0xFFFF) << 16, 32);
    sink.finish();
  }
  return at + 32;
}

__device__ inline void write_bytes(const DeviceTiles& tiles, const DeviceBlock& block, const BlockPlan& plan,
                                   WriteMemory& memory, std::int64_t at, std::uint32_t* stream) {
  for (int begin = 0; begin < block.size; begin += kThreads * kBytesAtOnce) {
    const ThreadPart part(tiles, block, memory, begin + static_cast<int>(threadIdx.x) * kBytesAtOnce);
    BitCount count;
    part.put(memory.table, count);
    unsigned before = 0, all = 0;
    cub::BlockScan<unsigned, kThreads>(memory.storage).ExclusiveSum(count.bits, before, all);
    __syncthreads();  // before the storage is used again
    StreamSink sink(stream, at + before);
    part.put(memory.table, sink);
    sink.finish();
    at += all;
  }
  if (threadIdx.x == 0 && plan.is_stored == 0) {
    StreamSink sink(stream, at);
    put_value(memory.table.lengths[kEndOfBlock], {}, sink);
    sink.finish();
  }
}

__global__ void __launch_bounds__(kThreads)
    write_blocks(const DeviceTiles tiles, std::byte* encoded, const EncodedTile* entries) {
  __shared__ WriteMemory memory;
  const DeviceBlock block(tiles, blockIdx.x);
  if (block.size == 0) return;
  const BlockPlan& plan = tiles.plan<BlockPlan>(block.tile, block.index);
  const BlockMatch* const matches = block.matches(tiles);
  strided_for(2 * kMaskWords, [&](int i) { memory.covered[i] = 0; });
  strided_for(kBlockBytes / kBytesAtOnce, [&](int i) { memory.begins[i] = 0; });
  strided_for(kLengths, [&](int i) { memory.table.lengths[i] = plan.table.lengths[i]; });
  strided_for(kDistances, [&](int i) { memory.table.distances[i] = plan.table.distances[i]; });
  __syncthreads();
  mark_covered(matches, static_cast<int>(plan.matches), memory.covered);
  strided_for(static_cast<int>(plan.matches), [&](int i) {
    memory.begins[matches[i].position / kBytesAtOnce] = static_cast<std::uint16_t>(i + 1);
  });
  auto* const stream = reinterpret_cast<std::uint32_t*>(encoded + entries[block.tile].offset);
  const std::int64_t at = write_head(plan, block.size, stream);
  __syncthreads();
  write_bytes(tiles, block, plan, memory, at, stream);
}

/// Launched with one block per tile.
__global__ void __launch_bounds__(crc32::kThreads)
    write_trailers(const DeviceTiles tiles, std::byte* encoded, const EncodedTile* entries) {
  const std::int64_t tile = blockIdx.x;
  const std::uint32_t checksum = crc32::checksum_in_block(tiles.data_of(tile), tiles.bytes_of(tile));
  auto* const stream = reinterpret_cast<std::uint8_t*>(encoded) + entries[tile].offset;
  if (threadIdx.x == 0) write_little_endian(checksum, 4, stream + entries[tile].bytes - 8);
}

}  // namespace sepconv::deflate
