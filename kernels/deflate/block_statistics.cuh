// The plan of each block: its matches, its Huffman codes and their encoded lengths, or that it is stored.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/block_threads.cuh"
#include "kernels/deflate/select_matches.cuh"

namespace sepconv::deflate {

/// Shared memory of a block's threads.
struct PlanMemory {
  static constexpr int kTables = kThreads / kLanes;  // one table per warp, to reduce contention for counters
  union {
    EqualBytes same;
    struct {
      std::uint32_t covered[2 * kMaskWords];
      std::uint32_t tables[kTables][256];
    } counted;
  };
  BlockCode code;
  std::uint32_t keys[kLengths], depths[kLengths];
  int used, matches;
  std::uint32_t sum;
  unsigned long long weighted;
};

/// Counts the literal, length and distance symbols of the block.
__device__ inline void count_symbols(const std::uint8_t* data, int size, const BlockMatch* matches,
                                     const MatchDistances& raster, PlanMemory& memory) {
  auto& [covered, tables] = memory.counted;
  strided_for(2 * kMaskWords, [&](int i) { covered[i] = 0; });
  strided_for(PlanMemory::kTables * 256, [&](int i) { tables[i / 256][i % 256] = 0; });
  __syncthreads();
  mark_covered(matches, memory.matches, covered);
  strided_for(memory.matches, [&](int i) {
    const std::int64_t distance =
        matches[i].is_row_distance != 0 ? raster.row_distance() : raster.pixel_distance();
    const unsigned distance_symbol = distance_value(distance).symbol;
    for_each_part(matches[i].length(), [&](std::int64_t part) {
      atomicAdd(memory.code.length_counts + length_value(part).symbol, 1U);
      atomicAdd(memory.code.distance_counts + distance_symbol, 1U);
    });
  });
  __syncthreads();
  strided_for(size, [&](int i) {
    if ((covered[i / 32] >> (i % 32) & 1) == 0) atomicAdd(tables[threadIdx.x / kLanes] + data[i], 1U);
  });
  __syncthreads();
  strided_for(256, [&](int value) {
    for (const auto& table : tables) memory.code.length_counts[value] += table[value];
  });
}

__device__ inline void choose_codes(PlanMemory& memory) {
  BlockCode& code = memory.code;
  if (threadIdx.x == 0) code.complete();
  choose_lengths_in_block(code.length_counts, kLengths, kMaxCodeBits, memory, code.length_bits);
  choose_lengths_in_block(code.distance_counts, kDistances, kMaxCodeBits, memory, code.distance_bits);
  if (threadIdx.x == 0) code.write_description();
  choose_lengths_in_block(code.code_length_counts, kCodeLengthSymbols, BlockCode::kMaxCodeLengthBits, memory,
                          code.told_bits);
}

/// Called by one thread.
__device__ inline void complete_plan(const DeviceBlock& block, PlanMemory& memory, BlockPlan& plan) {
  memory.code.assign(plan.table);
  plan.bits = memory.code.cost();
  const std::int64_t stored_bits = 8 * std::int64_t{block.size} + 40;
  plan.is_stored = plan.bits >= stored_bits ? 1 : 0;
  WordSink head{plan.head};
  if (plan.is_stored != 0) {
    head.put(block.is_last ? 1 : 0, 3);
    plan.bits = 3 + 32 + 8 * std::int64_t{block.size};
  } else {
    memory.code.write_block_header(block.is_last, head);
  }
  head.finish();
  plan.head_bits = head.total;
  plan.matches = plan.is_stored != 0 ? 0 : static_cast<unsigned>(memory.matches);
  plan.sum = memory.sum % kAdlerBase;
  plan.weighted = static_cast<unsigned>(memory.weighted % kAdlerBase);
}

__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor) plan_blocks(const DeviceTiles tiles) {
  __shared__ PlanMemory memory;
  const DeviceBlock block(tiles, blockIdx.x);
  if (block.size == 0) return;
  const std::uint8_t* const data = block.data(tiles);
  BlockMatch* const matches = block.matches(tiles);
  strided_for(sizeof(BlockCode) / sizeof(std::uint32_t),
              [&](int i) { reinterpret_cast<std::uint32_t*>(&memory.code)[i] = 0; });
  if (threadIdx.x == 0) memory.sum = 0, memory.weighted = 0;
  __syncthreads();
  const ByteSums sums = find_equal_bytes(data, block, tiles.raster, memory.same);
  atomicAdd(&memory.sum, sums.sum);
  atomicAdd(&memory.weighted, static_cast<unsigned long long>(sums.weighted));
  __syncthreads();
  if (threadIdx.x < kLanes) {
    const int match_count = select_matches(memory.same, block.size, matches);
    if (threadIdx.x == 0) memory.matches = match_count;
  }
  __syncthreads();
  count_symbols(data, block.size, matches, tiles.raster, memory);
  choose_codes(memory);
  BlockPlan& plan = tiles.plan<BlockPlan>(block.tile, block.index);
  if (threadIdx.x == 0) complete_plan(block, memory, plan);
  __syncthreads();
  if (plan.is_stored != 0)
    strided_for(256, [&](int byte) { plan.table.lengths[byte] = static_cast<unsigned>(byte) | 8U << 16; });
}

}  // namespace sepconv::deflate
