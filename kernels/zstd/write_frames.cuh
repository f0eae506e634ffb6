// Computes the position of each block of a frame and writes the frames.
#pragma once

#include <cuda_runtime.h>

#include "core/zstd/checksum.hpp"
#include "kernels/codec/thread_group.hpp"
#include "kernels/deflate/locate_streams.cuh"
#include "kernels/zstd/frame_statistics.cuh"

namespace sepconv::zstd {

using deflate::StreamSink;

/// The `Streams` of locate_streams() for zstd.
struct Frames {
  struct End {
    std::int64_t bytes;
  };
  static __device__ End locate(const DeviceTiles& tiles, std::int64_t tile) {
    std::int64_t at = frame_header_bytes(static_cast<std::uint64_t>(tiles.bytes_of(tile)));
    for (DeviceBlock block(tiles, tile * tiles.blocks); block.size > 0;
         block = DeviceBlock(tiles, tile * tiles.blocks + block.index + 1)) {
      BlockPlan& plan = tiles.plan<BlockPlan>(tile, block.index);
      plan.byte_offset = at;
      at += kBlockHeaderBytes + plan.bytes;
      if (block.is_last) break;
    }
    return {at + (tiles.has_checksum ? kChecksumBytes : 0)};
  }
  static __device__ void put(const DeviceTiles& tiles, std::int64_t tile, const End&, std::uint8_t* stream) {
    const auto bytes = static_cast<std::uint64_t>(tiles.bytes_of(tile));
    const LittleEndianField head = make_frame_header(bytes, tiles.has_checksum);
    deflate::write_little_endian(kMagic, 4, stream);
    deflate::write_little_endian(head.number, static_cast<int>(head.bytes), stream + 4);
    deflate::write_little_endian(bytes, static_cast<int>(size_bytes(bytes)), stream + 4 + head.bytes);
  }
};

struct WriteMemory {
  std::uint32_t codes[LiteralCode::kValues];
  std::uint32_t covered[2 * kMaskWords];
  std::int64_t streams[kStreams];  ///< first bit of each literal stream
  std::int64_t at;                 ///< first byte of raw literals
  AmountScan::TempStorage storage;
};

__device__ inline void put_field(const LittleEndianField& field, StreamSink& sink) {
  for (unsigned i = 0; i < field.bytes; ++i) sink.put(field.number >> (8 * i) & 0xFF, 8);
}

/// Called by one thread: writes all but literals and sequences. Sets the positions of the literals.
__device__ inline void write_heads(const BlockPlan& plan, bool is_last, std::uint32_t* stream,
                                   WriteMemory& memory) {
  StreamSink sink(stream, 8 * plan.byte_offset);
  put_field(make_block_header(plan.is_raw ? BlockKind::raw : BlockKind::compressed, plan.bytes, is_last),
            sink);
  memory.at = plan.byte_offset + kBlockHeaderBytes;
  if (!plan.is_raw) {
    const LittleEndianField head = make_literals_header(plan.kind, plan.literals, plan.literal_bytes());
    put_field(head, sink);
    memory.at += head.bytes;
  }
  if (plan.kind == LiteralKind::rle) sink.put(plan.value, 8);
  if (plan.kind == LiteralKind::compressed) {
    for (std::uint32_t i = 0; i < plan.head_bytes; ++i) sink.put(plan.head[i], 8);
    std::int64_t at = memory.at + plan.head_bytes + kJumpTableBytes;
    for (std::uint32_t i = 0; i < kStreams; ++i) {
      if (i + 1 < kStreams) sink.put(plan.stream_bytes(i), 16);
      memory.streams[i] = 8 * at;
      at += plan.stream_bytes(i);
    }
  }
  sink.finish();
}

__device__ inline void write_plain(const LiteralPart& part, Amount before, std::uint32_t* stream,
                                   const WriteMemory& memory) {
  StreamSink sink(stream, 8 * (memory.at + before.literals));
  part.for_each<false>([&](unsigned byte) { sink.put(byte, 8); });
  sink.finish();
}

/// A stream begins with its last literal.
__device__ inline void write_coded(const LiteralPart& part, Amount after, const BlockPlan& plan,
                                   std::uint32_t* stream, const WriteMemory& memory) {
  const std::uint32_t literals_per_stream = plan.literals_per_stream();
  std::uint32_t begin = after.literals;  // index of the stream's first literal
  StreamSink sink(stream, 0);
  part.for_each<true>([&](unsigned byte) {
    if (after.literals <= begin) {
      sink.finish();
      const std::uint32_t index = (after.literals - 1) / literals_per_stream;
      begin = index * literals_per_stream;
      sink = StreamSink(stream, memory.streams[index] + plan.stream_end[index] - after.bits);
    }
    const std::uint32_t code = memory.codes[byte], bits = code >> 16;
    sink.put(code & 0xFFFF, bits);
    after.literals -= 1, after.bits -= bits;
  });
  sink.finish();
}

__device__ inline void write_literals(const DeviceTiles& tiles, const DeviceBlock& block,
                                      const BlockPlan& plan, WriteMemory& memory, std::uint32_t* stream) {
  const bool coded = plan.kind == LiteralKind::compressed;
  const auto bits_of = [&](unsigned byte) { return memory.codes[byte] >> 16; };
  for_each_part(block.data(tiles), block.size, memory.covered, memory.storage, bits_of,
                [&](const LiteralPart& part, Amount before) {
                  if (!coded) return write_plain(part, before, stream, memory);
                  part.for_each<false>([&](unsigned byte) { before = before + Amount{1, bits_of(byte)}; });
                  write_coded(part, before, plan, stream, memory);
                });
  if (!coded || threadIdx.x >= kStreams) return;
  StreamSink mark(stream, memory.streams[threadIdx.x] + plan.stream_bits(threadIdx.x));
  mark.put(1, 1);
  mark.finish();
}

__device__ inline void write_sequences(const std::uint32_t* from, const BlockPlan& plan,
                                       std::uint32_t* stream) {
  const std::int64_t at = 8 * (plan.byte_offset + kBlockHeaderBytes + plan.bytes - plan.sequence_bytes);
  strided_for(static_cast<int>((plan.sequence_bytes + 3) / 4), [&](int i) {
    const std::uint32_t left = 8 * plan.sequence_bytes - 32 * static_cast<std::uint32_t>(i);
    StreamSink sink(stream, at + 32 * i);
    sink.put(from[i], left < 32 ? left : 32);
    sink.finish();
  });
}

constexpr int kWarps = kThreads / deflate::kLanes;

/// Called by all warps of a block, one tile each.
__device__ inline void write_checksums(const DeviceTiles& tiles, std::byte* encoded,
                                       const EncodedTile* entries) {
  const std::int64_t tile = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / deflate::kLanes;
  if (tile >= tiles.tiles) return;
  const std::uint32_t checksum =
      checksum_of(Warp(), tiles.data_of(tile), static_cast<std::uint64_t>(tiles.bytes_of(tile)));
  if (Warp::lane() != 0) return;
  const EncodedTile& entry = entries[tile];
  StreamSink sink(reinterpret_cast<std::uint32_t*>(encoded + entry.offset),
                  8 * (entry.bytes - std::int64_t{kChecksumBytes}));
  sink.put(checksum, 8 * kChecksumBytes);
  sink.finish();
}

/// The first `checksum_blocks` blocks compute checksums, which is sequential for a tile and takes long;
/// meanwhile each of the others writes one block of a frame.
__global__ void __launch_bounds__(kThreads, deflate::kBlocksPerProcessor)
    write_frames(const DeviceTiles tiles, unsigned checksum_blocks, std::byte* encoded,
                 const EncodedTile* entries) {
  __shared__ WriteMemory memory;
  if (blockIdx.x < checksum_blocks) return write_checksums(tiles, encoded, entries);
  const std::int64_t number = blockIdx.x - checksum_blocks;
  const DeviceBlock block(tiles, number);
  if (block.size == 0) return;
  const BlockPlan& plan = tiles.plan<BlockPlan>(block.tile, block.index);
  strided_for(2 * kMaskWords, [&](int i) { memory.covered[i] = 0; });
  strided_for(256, [&](int i) { memory.codes[i] = plan.codes[i]; });
  __syncthreads();
  deflate::mark_covered(block.matches(tiles), static_cast<int>(plan.matches), memory.covered);
  auto* const stream = reinterpret_cast<std::uint32_t*>(encoded + entries[block.tile].offset);
  if (threadIdx.x == 0) write_heads(plan, block.is_last, stream, memory);
  __syncthreads();
  if (plan.kind != LiteralKind::rle) write_literals(tiles, block, plan, memory, stream);
  if (plan.is_raw) return;
  write_sequences(reinterpret_cast<const std::uint32_t*>(tiles.sequences + number * kMaxSequenceBytes), plan,
                  stream);
}

}  // namespace sepconv::zstd
