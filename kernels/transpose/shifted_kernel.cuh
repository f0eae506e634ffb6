// Transposition of elements of 1, 2, 4 and 8 bytes in matrices with unaligned rows. Rows are loaded as
// aligned words and shifted into place. The part of an output row that a block stores begins and ends at a
// sector boundary of the cache (ShiftedTile of tiles.hpp), so no sector is written in two parts.
#pragma once

#include "kernels/transpose/tile_kernel.cuh"

namespace sepconv::transposing {

/// Block: Tile::kThreads. Grid: one block per tile. Elements of 4 and 8 bytes are aligned to their size.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads) transpose_shifted(const Job job) {
  using T = Word<Tile::kWordBytes>;
  constexpr int kMicro = Tile::kMicro;
  constexpr int kElement = Tile::kElementBytes;
  constexpr int kWord = Tile::kWordBytes;
  constexpr bool kShifts = kElement < 4;
  constexpr int kRowsAtOnce = Tile::kThreads / 32;
  constexpr int kSteps = Tile::kLoadRows / kRowsAtOnce * Tile::kAcross;
  __shared__ T tile[kMicro][Tile::kInWords][Tile::kPitch];

  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t tile_row = static_cast<std::int64_t>(at.row) * Tile::kRows;
  const std::int64_t first_row = tile_row - Tile::kHalo;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * Tile::kCols;
  const int cols = clamped_count(job.cols - first_col, Tile::kCols);
  const bool is_full_tile = at.row > 0 && tile_row + Tile::kRows <= job.rows &&
                            job.cols - first_col >= Tile::kCols + (kShifts ? 4 : 0) &&
                            (!kShifts || at.col > 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::byte* const in =
      job.in + at.item * job.in_item + first_row * job.in_pitch + first_col * kElement;
  const auto row_of = [&](int step, int micro_row) {
    return (warp + kRowsAtOnce * (step / Tile::kAcross)) * kMicro + micro_row;
  };
  const auto word_of = [&](int step) { return lane + Tile::kUsedLanes * (step % Tile::kAcross); };
  const auto shift_of = [&](int row) {  // bytes from an aligned word to the row's begin
    if (!kShifts) return 0;
    return static_cast<int>((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in)) +
                             static_cast<unsigned>(row) * static_cast<unsigned>(job.in_pitch)) &
                            3U);
  };

  T words[kSteps][kMicro];
  if (is_full_tile) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int micro_row = 0; micro_row < kMicro; ++micro_row) {
        const int row = row_of(step, micro_row);
        words[step][micro_row] =
            *reinterpret_cast<const T*>(in + row * job.in_pitch + (word_of(step) * kWord - shift_of(row)));
      }
    }
  } else {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int micro_row = 0; micro_row < kMicro; ++micro_row) {
        const int row = row_of(step, micro_row);
        const int offset = word_of(step) * kWord - shift_of(row);
        const bool inside = first_row + row >= 0 && first_row + row < job.rows;
        words[step][micro_row] = T{};
        if constexpr (kShifts) {
          if (inside)
            words[step][micro_row] = load_within(in + row * job.in_pitch, offset, -first_col * kElement,
                                                 (job.cols - first_col) * kElement);
        } else if (inside && word_of(step) < cols) {
          words[step][micro_row] = *reinterpret_cast<const T*>(in + row * job.in_pitch + offset);
        }
      }
    }
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if constexpr (kShifts) {
#pragma unroll
      for (int micro_row = 0; micro_row < kMicro; ++micro_row) {
        const unsigned next = __shfl_down_sync(~0U, words[step][micro_row], 1);
        words[step][micro_row] =
            __funnelshift_r(words[step][micro_row], next, 8U * shift_of(row_of(step, micro_row)));
      }
    }
    transpose_micro(words[step]);
#pragma unroll
    for (int micro_row = 0; micro_row < kMicro; ++micro_row) {
      if (lane < Tile::kUsedLanes)
        tile[micro_row][word_of(step)][row_of(step, 0) / kMicro] = words[step][micro_row];
    }
  }
  __syncthreads();

  std::byte* const out = job.out + at.item * job.out_item + first_col * job.out_pitch;
  const std::int64_t out_bytes = job.rows * kElement;
  if constexpr (kShifts) {  // two words of a column for every lane
    static_assert(Tile::kOutWords % 64 == 0);
    constexpr int kAcrossOut = Tile::kOutWords / 64;
#pragma unroll 4
    for (int step = 0; step < (Tile::kCols + kRowsAtOnce - 1) / kRowsAtOnce * kAcrossOut; ++step) {
      const int col = warp + kRowsAtOnce * (step / kAcrossOut);
      const int word = 2 * lane + 64 * (step % kAcrossOut);
      if (col >= cols) continue;
      std::byte* const row = out + col * job.out_pitch;
      const int begin = 32 - static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 31U);
      const T* const from = &tile[col % kMicro][col / kMicro][begin / kWord + word];
      const unsigned shift = 8U * (begin & 3);
      const uint2 values{__funnelshift_r(from[0], from[1], shift), __funnelshift_r(from[1], from[2], shift)};
      const std::int64_t offset = tile_row * kElement - 32 + begin + word * kWord;
      if (is_full_tile) {
        *reinterpret_cast<uint2*>(row + offset) = values;
      } else {
        store_within(row, offset, values.x, out_bytes);
        store_within(row, offset + 4, values.y, out_bytes);
      }
    }
  } else {
    constexpr int kAcrossOut = Tile::kOutWords / 32;
#pragma unroll 4
    for (int step = 0; step < (Tile::kCols + kRowsAtOnce - 1) / kRowsAtOnce * kAcrossOut; ++step) {
      const int col = warp + kRowsAtOnce * (step / kAcrossOut);
      const int word = lane + 32 * (step % kAcrossOut);
      if (col >= cols) break;
      std::byte* const row = out + col * job.out_pitch;
      const int begin = 32 - static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 31U);
      const std::int64_t offset = tile_row * kElement - 32 + begin + word * kWord;
      const T value = tile[col % kMicro][col / kMicro][begin / kWord + word];
      if (is_full_tile || (offset >= 0 && offset < out_bytes)) *reinterpret_cast<T*>(row + offset) = value;
    }
  }
}

}  // namespace sepconv::transposing
