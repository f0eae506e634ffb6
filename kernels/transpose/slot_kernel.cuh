// Transposition of elements of 3 and 6 bytes (SlotTile of tiles.hpp). In shared memory each has a slot of 4
// or 8 bytes, and slots lie as the output will: a thread takes its element out of two aligned words of the
// input, and puts a word of the output together out of two slots.
#pragma once

#include <type_traits>

#include "sepconv/kernels/transpose/device_tiles.cuh"

namespace sepconv::transposing {

constexpr int kSlotLoads = 8;  // of a thread before it stores the first

/// The four bytes from byte `part` of an element, in words of two slots that follow one another.
__device__ inline unsigned word_of_slots(const unsigned* slot, unsigned part,
                                         std::integral_constant<int, 3>) {
  const unsigned selector = part == 0 ? 0x4210U : part == 1 ? 0x5421U : 0x6542U;
  return __byte_perm(slot[0], slot[1], selector);
}
__device__ inline unsigned word_of_slots(const unsigned* slot, unsigned part,
                                         std::integral_constant<int, 6>) {
  const unsigned* const from = slot + (part == 4 ? 1 : 0);  // in slots: 2 words, and the next one's first
  return __byte_perm(from[0], from[1], part == 2 ? 0x5432U : part == 0 ? 0x3210U : 0x5410U);
}

/// Block: Tile::kThreads. Grid: a block a tile. Addresses and distances are multiples of Tile::kUnit, and of
/// 32 in the output where the tile has no halo.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads) transpose_slots(const Job job) {
  constexpr int kElement = Tile::kElementBytes;
  constexpr int kSlot = Tile::kSlotWords;
  constexpr int kWarps = Tile::kThreads / 32;
  constexpr int kAcross = Tile::kCols / 32;
  constexpr int kSteps = Tile::kLoadRows * kAcross;  // of a warp each
  __shared__ unsigned tile[Tile::kCols * Tile::kPitch * kSlot];

  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t tile_row = static_cast<std::int64_t>(at.row) * Tile::kRows;
  const std::int64_t first_row = tile_row - Tile::kHalo;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * Tile::kCols;
  const int cols = least(job.cols - first_col, Tile::kCols);
  const std::int64_t left = -first_col * kElement;  // where the input's row begins and ends, from the tile
  const std::int64_t right = (job.cols - first_col) * kElement;
  // Words of rows that begin and end with one reach over no edge; others do by up to five bytes.
  const bool rows_of_words = ((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(job.in)) |
                               static_cast<unsigned>(job.in_pitch) | static_cast<unsigned>(job.in_item) |
                               static_cast<unsigned>(job.cols * kElement)) &
                              3U) == 0;
  const bool whole = first_row >= 0 && tile_row + Tile::kRows <= job.rows && cols == Tile::kCols &&
                     (rows_of_words || (at.col > 0 && right >= (Tile::kCols + 2) * kElement));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::byte* const in =
      job.in + at.item * job.in_item + first_row * job.in_pitch + first_col * kElement;

  for (int first = warp; first < kSteps; first += kWarps * kSlotLoads) {
    unsigned low[kSlotLoads];
    unsigned high[kSlotLoads];
    int shift[kSlotLoads];  // bits
#pragma unroll
    for (int k = 0; k < kSlotLoads; ++k) {
      const int step = first + k * kWarps;
      const int row = step / kAcross;
      const int begin = (step % kAcross * 32 + lane) * kElement;
      const std::byte* const from = in + row * job.in_pitch;
      const int misaligned = static_cast<int>(
          (static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from)) + static_cast<unsigned>(begin)) &
          3U);
      const int offset = begin - misaligned;
      shift[k] = misaligned * 8;
      low[k] = high[k] = 0;
      if (step >= kSteps) continue;
      if (whole) {
        low[k] = *reinterpret_cast<const unsigned*>(from + offset);
        if (misaligned + kElement > 4) high[k] = *reinterpret_cast<const unsigned*>(from + offset + 4);
      } else if (first_row + row >= 0 && first_row + row < job.rows) {
        low[k] = load_within(from, offset, left, right);
        high[k] = load_within(from, offset + 4, left, right);
      }
    }
#pragma unroll
    for (int k = 0; k < kSlotLoads; ++k) {
      const int step = first + k * kWarps;
      if (step >= kSteps) continue;
      unsigned* const slot = tile + ((step % kAcross * 32 + lane) * Tile::kPitch + step / kAcross) * kSlot;
      slot[0] = __funnelshift_r(low[k], high[k], shift[k]);
      if constexpr (kSlot == 2) slot[1] = high[k] >> shift[k];
    }
  }
  __syncthreads();

  std::byte* const out = job.out + at.item * job.out_item + first_col * job.out_pitch;
  const std::int64_t out_bytes = job.rows * kElement;
#pragma unroll 4
  for (int step = warp; step < Tile::kCols * Tile::kStretches; step += kWarps) {
    const int col = step / Tile::kStretches;
    const int word = step % Tile::kStretches * 32 + lane;
    if (col >= cols) break;
    std::byte* const row = out + col * job.out_pitch;
    const int misaligned =
        Tile::kHalo == 0 ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 31U);
    const unsigned begin = Tile::kHalo * kElement - misaligned + word * 4;
    const unsigned element = begin / kElement;
    const unsigned value = word_of_slots(tile + (col * Tile::kPitch + element) * kSlot, begin % kElement,
                                         std::integral_constant<int, kElement>());
    const std::int64_t offset = tile_row * kElement - misaligned + word * 4;
    if (whole) {
      *reinterpret_cast<unsigned*>(row + offset) = value;
    } else {
      store_within(row, offset, value, out_bytes);
    }
  }
}

}  // namespace sepconv::transposing
