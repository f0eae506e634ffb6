// Transposition of tall or wide matrices whose short rows (few elements) are contiguous (TallSkinnyJob of
// tiles.hpp), at any address. The dense side is copied through shared memory in chunks, unchanged; a thread
// gathers or scatters the elements of one aligned chunk of a long row. A warp processes 8 chunks of 4 long
// rows, which are in 8 x 4 different banks.
#pragma once

#include "kernels/transpose/chunks.cuh"

namespace sepconv::transposing {

constexpr int kTallSkinnyThreads = 256;
constexpr int kTallSkinnyLoads = 4;

/// Positions of a tile's elements in shared memory. A group is one chunk of every long row; the distance
/// between groups is an odd number of chunks.
template <int Element>
struct TallSkinnyPositions {
  static constexpr int kPixels = kChunk / Element;  // per group
  const TallSkinnyJob& params;
  unsigned padding;  // bytes after a group

  __device__ explicit TallSkinnyPositions(const TallSkinnyJob& job)
      : params(job), padding(job.chunks.value % 2 == 1 ? 0U : 16U) {}
  /// Offset of a chunk of the dense side.
  __device__ unsigned chunk(unsigned number) const {
    return number * kChunk + quotient(number, params.chunks) * padding;
  }
  /// Offset of an element of a long row.
  __device__ unsigned element(unsigned pixel, unsigned row) const {
    return pixel * params.row_bytes + pixel / kPixels * padding + row * Element;
  }
};

/// The long row and chunk that a lane processes in the warp's step `number`.
struct TallSkinnyStep {
  unsigned row;
  int chunk;
  __device__ TallSkinnyStep(const TallSkinnyJob& params, unsigned number) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned chunk_group = quotient(number, params.row_quads);
    row = (number - chunk_group * params.row_quads.value) * 4 + lane / 8;
    chunk = static_cast<int>(chunk_group * 8 + lane % 8);
  }
};

/// From short dense rows to long rows. Block: kTallSkinnyThreads. Grid: params.tiles blocks per item. Dynamic
/// shared memory: params.shared_bytes; its first group is the one before the tile.
template <int Element>
__global__ void __launch_bounds__(kTallSkinnyThreads) transpose_tall_skinny(const TallSkinnyJob params) {
  using T = Word<Element>;
  constexpr int kPixels = kChunk / Element;
  extern __shared__ uint4 shared_chunks[];
  std::byte* const shared = reinterpret_cast<std::byte*>(shared_chunks);
  const TallSkinnyPositions<Element> positions(params);
  const Job& job = params.job;
  const unsigned item = blockIdx.x / params.tiles;
  const std::int64_t first_group =
      static_cast<std::int64_t>(blockIdx.x - item * params.tiles) * params.groups;
  const std::byte* const in = job.in + item * job.in_item;
  const std::int64_t begin = (first_group - 1) * params.chunks.value * kChunk;
  const std::int64_t in_bytes = job.rows * params.row_bytes;
  const unsigned count = (params.groups + 1) * params.chunks.value;
  const bool is_full_tile = chunks_inside(in, begin, begin + count * kChunk, in_bytes);
  for (unsigned first = threadIdx.x; first < count; first += kTallSkinnyThreads * kTallSkinnyLoads) {
    uint4 chunks[kTallSkinnyLoads];
#pragma unroll
    for (int k = 0; k < kTallSkinnyLoads; ++k) {
      const unsigned number = first + k * kTallSkinnyThreads;
      if (number >= count) continue;
      chunks[k] = is_full_tile ? load_chunk(in + begin + number * kChunk)
                               : load_chunk_within(in, begin + number * kChunk, in_bytes);
    }
#pragma unroll
    for (int k = 0; k < kTallSkinnyLoads; ++k) {
      const unsigned number = first + k * kTallSkinnyThreads;
      if (number < count) *reinterpret_cast<uint4*>(shared + positions.chunk(number)) = chunks[k];
    }
  }
  __syncthreads();

  const std::int64_t out_bytes = job.rows * Element;
  const unsigned steps = params.groups / 8 * params.row_quads.value;
#pragma unroll 2
  for (unsigned number = threadIdx.x / 32; number < steps; number += kTallSkinnyThreads / 32) {
    const TallSkinnyStep step(params, number);
    if (step.row >= job.cols) continue;
    std::byte* const row = job.out + item * job.out_item + step.row * job.out_pitch;
    const int misaligned = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 15U);
    const int before = misaligned / Element;  // elements of the chunk that belong to the previous group
    unsigned from = positions.element((step.chunk + 1) * kPixels - before, step.row);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      if (i > 0 && i == before) from += positions.padding;
      put_element<Element>(words, i, *reinterpret_cast<const T*>(shared + from));
      from += params.row_bytes;
    }
    const std::int64_t offset = (first_group + step.chunk) * kChunk - misaligned;
    if (first_group > 0 && offset + kChunk <= out_bytes) {
      *reinterpret_cast<uint4*>(row + offset) = make_chunk(words);
    } else {
      store_chunk_within(row, offset, make_chunk(words), 0, out_bytes);
    }
  }
}

/// From long rows to short dense rows. As above, without the previous group.
template <int Element>
__global__ void __launch_bounds__(kTallSkinnyThreads) transpose_short_wide(const TallSkinnyJob params) {
  using T = Word<Element>;
  constexpr int kPixels = kChunk / Element;
  extern __shared__ uint4 shared_chunks[];
  std::byte* const shared = reinterpret_cast<std::byte*>(shared_chunks);
  const TallSkinnyPositions<Element> positions(params);
  const Job& job = params.job;
  const unsigned item = blockIdx.x / params.tiles;
  const std::int64_t first_group =
      static_cast<std::int64_t>(blockIdx.x - item * params.tiles) * params.groups;
  const std::int64_t in_bytes = job.cols * Element;
  const int pixels = static_cast<int>(params.groups) * kPixels;
  const unsigned steps =
      (params.groups / 8 + 1) * params.row_quads.value;  // includes chunks that begin before the tile
  constexpr unsigned kWarps = kTallSkinnyThreads / 32;
  for (unsigned first = threadIdx.x / 32; first < steps; first += kWarps * kTallSkinnyLoads) {
    uint4 chunks[kTallSkinnyLoads];
    int pixel[kTallSkinnyLoads];  // index of the chunk's first element
#pragma unroll
    for (int k = 0; k < kTallSkinnyLoads; ++k) {
      const unsigned number = first + k * kWarps;
      const TallSkinnyStep step(params, number);
      const std::byte* const row = job.in + item * job.in_item + step.row * job.in_pitch;
      const int misaligned = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) & 15U);
      const std::int64_t offset = (first_group + step.chunk) * kChunk - misaligned;
      pixel[k] = step.chunk * kPixels - misaligned / Element;
      if (number >= steps || step.row >= job.rows || offset >= in_bytes) pixel[k] = pixels;
      if (pixel[k] >= pixels) continue;
      chunks[k] = offset >= 0 && offset + kChunk <= in_bytes ? *reinterpret_cast<const uint4*>(row + offset)
                                                             : load_chunk_within(row, offset, in_bytes);
    }
#pragma unroll
    for (int k = 0; k < kTallSkinnyLoads; ++k) {
      if (pixel[k] >= pixels) continue;
      const TallSkinnyStep step(params, first + k * kWarps);
      const unsigned words[4] = {chunks[k].x, chunks[k].y, chunks[k].z, chunks[k].w};
      // The first `before` elements of the chunk belong to the previous group.
      const int before = step.chunk * kPixels - pixel[k];
      unsigned to = positions.element(step.chunk * kPixels, step.row) - before * params.row_bytes -
                    (before > 0 ? positions.padding : 0U);
      if (pixel[k] >= 0 && pixel[k] + kPixels <= pixels) {
#pragma unroll
        for (int i = 0; i < kPixels; ++i) {
          const unsigned padding = i > 0 && before > 0 && i >= before ? positions.padding : 0U;
          *reinterpret_cast<T*>(shared + to + i * params.row_bytes + padding) =
              get_element<Element>(words, i);
        }
        continue;
      }
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        if (i > 0 && i == before) to += positions.padding;
        if (pixel[k] + i >= 0 && pixel[k] + i < pixels)
          *reinterpret_cast<T*>(shared + to) = get_element<Element>(words, i);
        to += params.row_bytes;
      }
    }
  }
  __syncthreads();

  // Chunks that straddle two tiles are stored in part.
  const std::int64_t dense_bytes = job.cols * params.row_bytes;
  const std::int64_t begin = first_group * params.chunks.value * kChunk;
  const std::int64_t end = begin + static_cast<std::int64_t>(params.groups) * params.chunks.value * kChunk;
  const std::int64_t last = end < dense_bytes ? end : dense_bytes;
  std::byte* const out = job.out + item * job.out_item;
  const unsigned misaligned = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out)) & 15U;
  const unsigned count = params.groups * params.chunks.value;
#pragma unroll 4
  for (unsigned number = threadIdx.x; number < count + (misaligned > 0 ? 1 : 0);
       number += kTallSkinnyThreads) {
    const std::int64_t offset = begin + number * kChunk - misaligned;
    if (offset >= last) continue;
    uint4 chunk =
        number < count ? *reinterpret_cast<const uint4*>(shared + positions.chunk(number)) : uint4{};
    if (misaligned > 0) {
      const uint4 before =
          number > 0 ? *reinterpret_cast<const uint4*>(shared + positions.chunk(number - 1)) : uint4{};
      chunk = chunk_within(before, chunk, 16 - misaligned);
    }
    store_chunk_within(out, offset, chunk, begin, last);
  }
}

}  // namespace sepconv::transposing
