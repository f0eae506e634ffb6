// Transposition of elements of 3, 6 and 12 bytes (PixelTile of tiles.hpp): input rows are shifted in shared
// memory to begin with a word, and every thread gathers aligned words of the output from there.
#pragma once

#include "kernels/transpose/device_tiles.cuh"

namespace sepconv::transposing {

/// Block: Tile::kThreads. Grid: one block per tile. Addresses and distances are multiples of Tile::kUnit.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads) transpose_pixels(const Job job) {
  constexpr int kElement = Tile::kElementBytes;
  constexpr bool kShifts = Tile::kUnit < 4;
  constexpr int kWarps = Tile::kThreads / 32;
  constexpr int kSteps = (Tile::kLoadRows + kWarps - 1) / kWarps;
  __shared__ unsigned tile[Tile::kLoadRows * Tile::kPitch + 1];

  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t tile_row = static_cast<std::int64_t>(at.row) * Tile::kRows;
  const std::int64_t first_row = tile_row - Tile::kHalo;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * Tile::kCols;
  const int cols = clamped_count(job.cols - first_col, Tile::kCols);
  const std::int64_t left =
      -first_col * kElement;  // begin of the input row relative to the tile; `right`: its end
  const std::int64_t right = (job.cols - first_col) * kElement;
  const bool is_full_tile = at.row > 0 && tile_row + Tile::kRows <= job.rows && right >= Tile::kInWords * 4 &&
                            (!kShifts || at.col > 0);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::byte* const in =
      job.in + at.item * job.in_item + first_row * job.in_pitch + first_col * kElement;
  const auto shift_of = [&](int row) {
    if (!kShifts) return 0;
    return static_cast<int>((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in)) +
                             static_cast<unsigned>(row) * static_cast<unsigned>(job.in_pitch)) &
                            3U);
  };

  unsigned words[kSteps][Tile::kAcross];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int row = warp + step * kWarps;
    const std::byte* const from = in + row * job.in_pitch;
    const int shift = shift_of(row);
#pragma unroll
    for (int k = 0; k < Tile::kAcross; ++k) {
      const int offset = (lane + 32 * k) * 4 - shift;
      words[step][k] = 0;
      if (is_full_tile) {
        if (row < Tile::kLoadRows) words[step][k] = *reinterpret_cast<const unsigned*>(from + offset);
      } else if (row < Tile::kLoadRows && first_row + row >= 0 && first_row + row < job.rows) {
        words[step][k] = load_within(from, offset, left, right);
      }
    }
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int row = warp + step * kWarps;
    unsigned next[Tile::kAcross];
    if constexpr (kShifts) {  // lane 31 needs lane 0's word of the next step; in the last step its word is
                              // unused
#pragma unroll
      for (int k = 0; k < Tile::kAcross; ++k) {
        const unsigned given =
            k + 1 < Tile::kAcross && lane == 0 ? words[step][(k + 1) % Tile::kAcross] : words[step][k];
        next[k] = __shfl_sync(~0U, given, (lane + 1) % 32);
      }
    }
#pragma unroll
    for (int k = 0; k < Tile::kAcross; ++k) {
      if constexpr (kShifts) words[step][k] = __funnelshift_r(words[step][k], next[k], 8U * shift_of(row));
      if (row < Tile::kLoadRows) tile[row * Tile::kPitch + lane + 32 * k] = words[step][k];
    }
  }
  __syncthreads();

  constexpr int kColsAtOnce = Tile::kThreads / Tile::kOutWords;
  std::byte* const out = job.out + at.item * job.out_item + first_col * job.out_pitch;
  const std::byte* const shared = reinterpret_cast<const std::byte*>(tile);
  const std::int64_t out_bytes = job.rows * kElement;
  const int word = static_cast<int>(threadIdx.x) % Tile::kOutWords;
#pragma unroll 4
  for (int col = static_cast<int>(threadIdx.x) / Tile::kOutWords; col < cols; col += kColsAtOnce) {
    std::byte* const row = out + col * job.out_pitch;
    const int misaligned = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 31U);
    const unsigned begin = Tile::kHalo * kElement - misaligned + word * 4;
    const unsigned value =
        gather_word<kElement, Tile::kUnit>(shared, begin, [&](unsigned element, unsigned part) {
          return element * (Tile::kPitch * 4) + col * kElement + part;
        });
    const std::int64_t offset = tile_row * kElement - misaligned + word * 4;
    if (is_full_tile) {
      *reinterpret_cast<unsigned*>(row + offset) = value;
    } else {
      store_within(row, offset, value, out_bytes);
    }
  }
}

}  // namespace sepconv::transposing
