// Transposition of elements that are long runs of bytes: each run is copied directly within device memory
// (RunsJob of tiles.hpp).
#pragma once

#include "kernels/transpose/chunks.cuh"

namespace sepconv::transposing {

constexpr int kRunsThreads = 256;

/// Block: kRunsThreads. Grid: one block per tile and segment.
template <int Unit>
__global__ void __launch_bounds__(kRunsThreads) transpose_runs(const RunsJob params) {
  using T = Word<Unit>;
  constexpr int kLoads = Unit >= 8 ? 4 : 8;
  const Job& job = params.job;
  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const unsigned item = at.item / params.segments;
  const std::int64_t begin =
      static_cast<std::int64_t>(at.item - item * params.segments) * params.segment_bytes;  // in a run
  const std::int64_t first_row = static_cast<std::int64_t>(at.row) * params.tile_rows;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * params.tile_cols;
  const unsigned rows = clamped_count(job.rows - first_row, params.tile_rows);
  const unsigned cols = clamped_count(job.cols - first_col, params.tile_cols);
  const unsigned bytes = clamped_count(job.element_bytes - begin, params.segment_bytes);
  const std::byte* const in =
      job.in + item * job.in_item + first_row * job.in_pitch + first_col * job.element_bytes + begin;
  std::byte* const out =
      job.out + item * job.out_item + first_col * job.out_pitch + first_row * job.element_bytes + begin;

  const unsigned units = params.units_per_run.value * params.tile_rows * params.tile_cols;
  for (unsigned first = threadIdx.x; first < units; first += kRunsThreads * kLoads) {
    T values[kLoads];
    std::byte* to[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const unsigned number = first + k * kRunsThreads;
      const unsigned run = quotient(number, params.units_per_run);
      const unsigned offset = (number - run * params.units_per_run.value) * Unit;
      const unsigned col = quotient(run, params.rows);
      const unsigned row = run - col * params.rows.value;
      to[k] = nullptr;
      if (number < units && row < rows && col < cols && offset < bytes) {
        values[k] = *reinterpret_cast<const T*>(in + row * job.in_pitch + col * job.element_bytes + offset);
        to[k] = out + col * job.out_pitch + row * job.element_bytes + offset;
      }
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      if (to[k] != nullptr) *reinterpret_cast<T*>(to[k]) = values[k];
    }
  }
}

/// The same for unaligned runs: aligned chunks of the output, each combined from two chunks of the input.
/// Bytes of the input row next to the run may be read.
__global__ void __launch_bounds__(kRunsThreads) transpose_shifted_runs(const RunsJob params) {
  constexpr int kLoads = 2;
  const Job& job = params.job;
  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const unsigned item = at.item / params.segments;
  const std::int64_t begin =
      static_cast<std::int64_t>(at.item - item * params.segments) * params.segment_bytes;
  const std::int64_t first_row = static_cast<std::int64_t>(at.row) * params.tile_rows;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * params.tile_cols;
  const unsigned rows = clamped_count(job.rows - first_row, params.tile_rows);
  const unsigned cols = clamped_count(job.cols - first_col, params.tile_cols);
  const int bytes = clamped_count(job.element_bytes - begin, params.segment_bytes);
  const std::byte* const in = job.in + item * job.in_item + first_row * job.in_pitch;
  const std::int64_t row_bytes = job.cols * job.element_bytes;
  std::byte* const out =
      job.out + item * job.out_item + first_col * job.out_pitch + first_row * job.element_bytes + begin;

  const unsigned chunks_per_run = params.units_per_run.value;
  const unsigned count = chunks_per_run * params.tile_rows * params.tile_cols;
  for (unsigned first = threadIdx.x; first < count; first += kRunsThreads * kLoads) {
    uint4 low[kLoads];
    uint4 high[kLoads];
    unsigned start[kLoads];
    int offset[kLoads];
    std::byte* to[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const unsigned number = first + k * kRunsThreads;
      const unsigned run = quotient(number, params.units_per_run);
      const unsigned col = quotient(run, params.rows);
      const unsigned row = run - col * params.rows.value;
      to[k] = out + col * job.out_pitch + row * job.element_bytes;
      offset[k] = static_cast<int>((number - run * chunks_per_run) * kChunk) -
                  static_cast<int>(reinterpret_cast<std::uintptr_t>(to[k]) & 15U);
      if (number >= count || row >= rows || col >= cols) offset[k] = bytes;
      if (offset[k] >= bytes) continue;
      const std::byte* const in_row = in + row * job.in_pitch;
      const std::int64_t in_offset = (first_col + col) * job.element_bytes + begin + offset[k];
      const std::byte* const from = in_row + in_offset;
      start[k] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from)) & 15U;
      if (in_offset >= kChunk && in_offset + 2 * kChunk <= row_bytes) {
        const uint4* const aligned = reinterpret_cast<const uint4*>(from - start[k]);
        low[k] = aligned[0];
        high[k] = aligned[1];
      } else {
        low[k] = load_chunk_within(in_row, in_offset, row_bytes);
        start[k] = 0;
      }
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      if (offset[k] < bytes)
        store_chunk_within(to[k], offset[k], chunk_within(low[k], high[k], start[k]), 0, bytes);
    }
  }
}

}  // namespace sepconv::transposing
