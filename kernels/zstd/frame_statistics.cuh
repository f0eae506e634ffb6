// The plan of each block of a frame: its matches, the code of its literals and its description, its
// sequences, or that it is stored.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/select_matches.cuh"
#include "kernels/zstd/block_plan.hpp"
#include "kernels/zstd/literal_parts.cuh"

namespace sepconv::zstd {

using deflate::BlockMatch;
using deflate::kMaskWords;
using deflate::strided_for;

/// Shared memory of a block's threads.
struct PlanMemory {
  static constexpr int kTables = kThreads / deflate::kLanes;  // one table per warp
  union {
    deflate::EqualBytes same;
    struct {
      std::uint32_t covered[2 * kMaskWords];
      std::uint32_t tables[kTables][LiteralCode::kValues];
    } counted;
  };
  LiteralCode code;
  SequenceCodes sequences;
  std::uint32_t keys[LiteralCode::kValues], depths[LiteralCode::kValues];
  int used, matches;
  AmountScan::TempStorage storage;
};

/// Called by all threads.
__device__ inline bool is_constant(const std::uint8_t* data, int size) {
  bool same = true;
  strided_for(size, [&](int i) { same = same && data[i] == data[0]; });
  return __syncthreads_and(same ? 1 : 0) != 0;
}

__device__ inline void count_literals(const std::uint8_t* data, int size, const BlockMatch* matches,
                                      PlanMemory& memory) {
  auto& [covered, tables] = memory.counted;
  strided_for(2 * kMaskWords, [&](int i) { covered[i] = 0; });
  strided_for(PlanMemory::kTables * 256, [&](int i) { tables[i / 256][i % 256] = 0; });
  __syncthreads();
  deflate::mark_covered(matches, memory.matches, covered);
  __syncthreads();
  strided_for(size, [&](int i) {
    if ((covered[i / 32] >> (i % 32) & 1) == 0)
      atomicAdd(tables[threadIdx.x / deflate::kLanes] + data[i], 1U);
  });
  __syncthreads();
  strided_for(256, [&](int value) {
    for (const auto& table : tables) memory.code.counts[value] += table[value];
  });
}

/// Called by one thread.
__device__ inline void choose_literals(PlanMemory& memory, BlockPlan& plan) {
  LiteralCode& code = memory.code;
  plan.literals = 0;
  for (unsigned value = 0; value < LiteralCode::kValues; ++value) {
    plan.literals += code.counts[value];
    if (code.counts[value] > 0) plan.value = static_cast<std::uint8_t>(value);
  }
  plan.kind = memory.used == 1 ? LiteralKind::rle : LiteralKind::raw;
  if (memory.used < 2 || plan.literals < kMinCodedLiterals) return;
  code.write_description();
  if (!code.pays(plan.literals)) return;
  plan.kind = LiteralKind::compressed;
  plan.head_bytes = static_cast<std::uint32_t>(code.head_bytes);
  code.assign([&](unsigned value, std::uint32_t bits) {
    plan.codes[value] = bits | std::uint32_t{code.bits[value]} << 16;
  });
}

/// Called by all threads.
__device__ inline void measure_streams(const std::uint8_t* data, int size, PlanMemory& memory,
                                       BlockPlan& plan) {
  const std::uint32_t literals_per_stream = plan.literals_per_stream(), count = plan.literals;
  const auto bits_of = [&](unsigned byte) { return std::uint32_t{memory.code.bits[byte]}; };
  for_each_part(
      data, size, memory.counted.covered, memory.storage, bits_of, [&](const LiteralPart& part, Amount done) {
        std::uint32_t stream = done.literals / literals_per_stream, end = (stream + 1) * literals_per_stream;
        part.for_each<false>([&](unsigned byte) {
          done = done + Amount{1, bits_of(byte)};
          if (done.literals < end && done.literals < count) return;
          plan.stream_end[stream++] = done.bits;
          end += literals_per_stream;
        });
      });
}

/// Called by one thread: writes the bits of the sequences. is_row_distance of each match is replaced by its offset
/// value.
__device__ inline void write_sequences(const DeviceTiles& tiles, BlockMatch* matches, PlanMemory& memory,
                                       std::uint32_t* to, BlockPlan& plan) {
  const auto literals_before = [&](std::uint32_t i) {
    const int end = i == 0 ? 0 : matches[i - 1].position + matches[i - 1].length();
    return static_cast<std::uint32_t>(matches[i].position - end);
  };
  const auto count = static_cast<std::uint32_t>(memory.matches);
  RepeatOffsets distances;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t distance =
        matches[i].is_row_distance != 0 ? tiles.raster.row_distance() : tiles.raster.pixel_distance();
    matches[i].is_row_distance =
        static_cast<std::uint16_t>(distances.value(static_cast<std::uint32_t>(distance), literals_before(i)));
  }
  deflate::WordSink sink{to};
  write_sequences_header(count, sink);
  if (count > 0) {
    memory.sequences.make();
    const auto at = [&](std::uint32_t i) {
      return Sequence{literals_before(i), static_cast<std::uint32_t>(matches[i].length()),
                      matches[i].is_row_distance};
    };
    write_sequence_bits(memory.sequences, count, at, sink);
  }
  sink.finish();
  plan.sequence_bytes = (sink.total + 7) / 8;
}

/// Called by one thread.
__device__ inline void complete_plan(int size, PlanMemory& memory, BlockPlan& plan) {
  const std::uint32_t stored = plan.literal_bytes();
  plan.bytes = make_literals_header(plan.kind, plan.literals, stored).bytes + stored + plan.sequence_bytes;
  plan.matches = static_cast<std::uint32_t>(memory.matches);
  const auto block_bytes = static_cast<std::uint32_t>(size);
  plan.is_raw = plan.bytes >= block_bytes;
  if (!plan.is_raw) return;
  plan.kind = LiteralKind::raw;
  plan.bytes = plan.literals = block_bytes;
  plan.matches = 0;
}

__global__ void __launch_bounds__(kThreads, deflate::kBlocksPerProcessor)
    plan_frames(const DeviceTiles tiles) {
  __shared__ PlanMemory memory;
  const DeviceBlock block(tiles, blockIdx.x);
  if (block.size == 0) return;
  const std::uint8_t* const data = block.data(tiles);
  BlockMatch* const matches = block.matches(tiles);
  BlockPlan& plan = tiles.plan<BlockPlan>(block.tile, block.index);
  strided_for(256, [&](int i) { memory.code.counts[i] = 0, plan.codes[i] = 0; });
  const bool constant = is_constant(data, block.size);
  deflate::find_equal_bytes(data, block, tiles.raster, memory.same);
  __syncthreads();
  if (threadIdx.x < deflate::kLanes) {
    const int match_count = constant ? 0 : deflate::select_matches(memory.same, block.size, matches);
    if (threadIdx.x == 0) memory.matches = match_count;
  }
  __syncthreads();
  count_literals(data, block.size, matches, memory);
  deflate::choose_lengths_in_block(memory.code.counts, 256, kMaxLiteralLog, memory, memory.code.bits);
  if (threadIdx.x == 0) choose_literals(memory, plan);
  __syncthreads();
  if (plan.kind == LiteralKind::compressed) {
    strided_for(memory.code.head_bytes, [&](int i) { plan.head[i] = memory.code.head[i]; });
    measure_streams(data, block.size, memory, plan);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  auto* const sequences = reinterpret_cast<std::uint32_t*>(tiles.sequences + blockIdx.x * kMaxSequenceBytes);
  write_sequences(tiles, matches, memory, sequences, plan);
  complete_plan(block.size, memory, plan);
}

}  // namespace sepconv::zstd
