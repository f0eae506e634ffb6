// Transposition of matrices that are short one way and whose rows, of few elements, follow one another
// without a gap: pixels into planes and planes into pixels (CombJob of tiles.hpp). The dense side passes
// shared memory as it lies, word by word; the other side is gathered or scattered there.
#pragma once

#include "sepconv/kernels/transpose/device_tiles.cuh"

namespace sepconv::transposing {

constexpr int kCombThreads = 256;
constexpr int kCombLoads = 8;

/// From dense rows of few elements to long rows. Block: kCombThreads. Grid: a block a tile. Dynamic shared
/// memory: p.shared_bytes. Addresses and distances are multiples of Unit.
template <int Element, int Unit>
__global__ void __launch_bounds__(kCombThreads) transpose_comb_out(const CombJob p) {
  constexpr int kHalo = kHaloOf<Element>;
  static_assert(kHalo * Element % 4 == 0);
  extern __shared__ uint4 comb_memory[];
  std::byte* const shared = reinterpret_cast<std::byte*>(comb_memory);
  const Job& job = p.job;
  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t tile_row = static_cast<std::int64_t>(at.row) * p.length;
  const std::int64_t first_row = tile_row - kHalo;
  const unsigned row_bytes = p.row_bytes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  const std::byte* const in = job.in + at.item * job.in_item;
  const std::int64_t begin = first_row * row_bytes;
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in) + begin) & 3U;
  const std::int64_t in_bytes = job.rows * row_bytes;
  const unsigned in_words = ((p.length + kHalo) * row_bytes + shift + 3) / 4;
  const bool whole = begin >= 4 && begin + in_words * 4LL <= in_bytes;
  const std::byte* const from = in + begin - shift;
  for (unsigned first = threadIdx.x; first < in_words; first += kCombThreads * kCombLoads) {
    unsigned words[kCombLoads];
#pragma unroll
    for (int k = 0; k < kCombLoads; ++k) {
      const unsigned number = first + k * kCombThreads;
      words[k] = 0;
      if (whole) {
        if (number < in_words) words[k] = *reinterpret_cast<const unsigned*>(from + number * 4);
      } else if (number < in_words) {
        words[k] = load_within(in, begin - shift + number * 4LL, 0, in_bytes);
      }
    }
#pragma unroll
    for (int k = 0; k < kCombLoads; ++k) {
      const unsigned number = first + k * kCombThreads;
      if (number < in_words) *reinterpret_cast<unsigned*>(shared + padded(number * 4)) = words[k];
    }
  }
  __syncthreads();

  const std::int64_t out_bytes = job.rows * Element;
  const bool whole_out = at.row > 0 && tile_row + p.length <= job.rows;
  const unsigned stretches = p.stretches.value;
#pragma unroll 4
  for (unsigned number = warp; number < stretches * static_cast<unsigned>(job.cols);
       number += kCombThreads / 32) {
    const unsigned col = quotient(number, p.stretches);
    const int word = static_cast<int>(number - col * stretches) * 32 + lane;
    std::byte* const row = job.out + at.item * job.out_item + col * job.out_pitch;
    const int misaligned = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 31U);
    const unsigned place_of_col = col * Element + shift;
    const unsigned value = gather_word<Element, Unit>(
        shared, kHalo * Element - misaligned + word * 4,
        [&](unsigned element, unsigned part) { return padded(element * row_bytes + place_of_col + part); });
    const std::int64_t offset = tile_row * Element - misaligned + word * 4;
    if (whole_out) {
      *reinterpret_cast<unsigned*>(row + offset) = value;
    } else {
      store_within(row, offset, value, out_bytes);
    }
  }
}

/// From long rows to dense rows of few elements. As above.
template <int Element, int Unit>
__global__ void __launch_bounds__(kCombThreads) transpose_comb_in(const CombJob p) {
  extern __shared__ uint4 comb_memory[];
  std::byte* const shared = reinterpret_cast<std::byte*>(comb_memory);
  const Job& job = p.job;
  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * p.length;
  const unsigned row_bytes = p.row_bytes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int bytes = least(job.cols - first_col, p.length) * Element;  // of an input row in this tile
  std::byte* const out = job.out + at.item * job.out_item + first_col * row_bytes;
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out)) & 3U;
  const std::int64_t left = -first_col * Element;
  const std::int64_t right = (job.cols - first_col) * Element;

  const unsigned stretches = p.stretches.value;
  const unsigned count = stretches * static_cast<unsigned>(job.rows);
  constexpr int kStep = kCombThreads / 32;
  for (unsigned first = warp; first < count; first += kStep * kCombLoads) {
    unsigned words[kCombLoads];
    int offsets[kCombLoads];
    unsigned rows[kCombLoads];
#pragma unroll
    for (int k = 0; k < kCombLoads; ++k) {
      const unsigned number = first + k * kStep;
      rows[k] = quotient(number, p.stretches);
      const std::byte* const from =
          job.in + at.item * job.in_item + rows[k] * job.in_pitch + first_col * Element;
      offsets[k] = (static_cast<int>(number - rows[k] * stretches) * 32 + lane) * 4 -
                   static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 31U);
      words[k] = 0;
      if (number >= count) offsets[k] = bytes;
      if (offsets[k] > -4 && offsets[k] < bytes) words[k] = load_within(from, offsets[k], left, right);
    }
#pragma unroll
    for (int k = 0; k < kCombLoads; ++k) {
      const auto place = [&](unsigned element, unsigned part) {
        return padded(element * row_bytes + rows[k] * Element + shift + part);
      };
      if (offsets[k] >= 0 && offsets[k] + 4 <= bytes) {
        scatter_word<Element, Unit>(shared, offsets[k], words[k], 0, 4, place);
      } else if (offsets[k] > -4 && offsets[k] < bytes) {
        scatter_word<Element, Unit>(shared, offsets[k], words[k], -offsets[k], bytes - offsets[k], place);
      }
    }
  }
  __syncthreads();

  const unsigned out_bytes = static_cast<unsigned>(bytes) / Element * row_bytes;
#pragma unroll 4
  for (unsigned word = threadIdx.x; word * 4 < out_bytes + shift; word += kCombThreads) {
    const unsigned value = *reinterpret_cast<const unsigned*>(shared + padded(word * 4));
    store_within(out, static_cast<int>(word * 4) - static_cast<int>(shift), value, out_bytes);
  }
}

}  // namespace sepconv::transposing
