// Transposition of matrices with two to eight columns or rows, a compile-time constant: interleaved pixels to
// planes and back (TallSkinnyJob of tiles.hpp, where all long rows begin at a 16-byte chunk boundary). A
// thread has one group (a chunk of every long row) in registers. The dense side is copied through shared
// memory, so that a warp accesses 512 contiguous bytes on both sides.
#pragma once

#include "kernels/transpose/chunks.cuh"

namespace sepconv::transposing {

/// Source index of unit `number` of a group when its order changes from pixels to planes or back. A unit is
/// an element, or 4 bytes of a larger element.
template <int Element, int Planes, bool ToPlanes>
__device__ inline int source_unit(int number) {
  constexpr int kParts = Element < 4 ? 1 : Element / 4;
  constexpr int kPixels = kChunk / Element;
  const int part = number % kParts;
  const int element = number / kParts;
  const int plane = ToPlanes ? element / kPixels : element % Planes;
  const int pixel = ToPlanes ? element % kPixels : element / Planes;
  return (ToPlanes ? pixel * Planes + plane : plane * kPixels + pixel) * kParts + part;
}

/// Permutes a group. All indices and selectors are constants after unrolling.
template <int Element, int Planes, bool ToPlanes>
__device__ inline void regroup(const unsigned (&from)[4 * Planes], unsigned (&to)[4 * Planes]) {
#pragma unroll
  for (int i = 0; i < 4 * Planes; ++i) {
    const auto source = [&](int unit) { return source_unit<Element, Planes, ToPlanes>(unit); };
    if constexpr (Element == 1) {
      const int a = source(4 * i), b = source(4 * i + 1), c = source(4 * i + 2), d = source(4 * i + 3);
      const unsigned low = __byte_perm(from[a / 4], from[b / 4], a % 4 | (4 + b % 4) << 4);
      const unsigned high = __byte_perm(from[c / 4], from[d / 4], c % 4 | (4 + d % 4) << 4);
      to[i] = __byte_perm(low, high, 0x5410);
    } else if constexpr (Element == 2) {
      const int a = source(2 * i), b = source(2 * i + 1);
      to[i] = __byte_perm(from[a / 2], from[b / 2], (a % 2 ? 0x32 : 0x10) | (b % 2 ? 0x7600 : 0x5400));
    } else {
      to[i] = from[source(i)];
    }
  }
}

template <int Planes>
__device__ inline void put(unsigned (&words)[4 * Planes], int k, uint4 chunk) {
  words[4 * k] = chunk.x;
  words[4 * k + 1] = chunk.y;
  words[4 * k + 2] = chunk.z;
  words[4 * k + 3] = chunk.w;
}
template <int Planes>
__device__ inline uint4 get(const unsigned (&words)[4 * Planes], int k) {
  return uint4{words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]};
}

/// Position of chunk `number` of the dense side in shared memory. The distance between groups is an odd
/// number of chunks, so threads that each access one group have no bank conflicts.
template <int Planes>
__device__ inline int chunk_position(int number) {
  return Planes % 2 == 1 ? number : number + number / Planes;
}

/// From dense rows at any address to planes. Block: kPlanesThreads. Grid: params.tiles blocks per item. If
/// the planes are `Shifted`, an aligned chunk of a plane contains part of the previous group; the first group
/// of a block is loaded only for that.
template <int Element, int Planes, bool Shifted>
__global__ void __launch_bounds__(kPlanesThreads) transpose_to_planes(const TallSkinnyJob params) {
  constexpr int kGroups = kPlanesThreads - Shifted;
  __shared__ uint4 shared[kPlanesThreads * (Planes | 1)];
  const Job& job = params.job;
  const unsigned item = blockIdx.x / params.tiles;
  const std::int64_t first_group =
      static_cast<std::int64_t>(blockIdx.x - item * params.tiles) * kGroups - Shifted;
  const std::int64_t plane_bytes = job.rows * Element;
  const std::int64_t begin = first_group * (Planes * kChunk);
  const std::byte* const in = job.in + item * job.in_item;
  const int thread = static_cast<int>(threadIdx.x);
  const bool is_full_tile = first_group >= 0 && (first_group + kPlanesThreads) * kChunk <= plane_bytes;
  const bool is_full_input =
      chunks_inside(in, begin, begin + kPlanesThreads * (Planes * kChunk), plane_bytes * Planes);

  uint4 chunks[Planes];
#pragma unroll
  for (int k = 0; k < Planes; ++k) {
    const std::int64_t offset = begin + (k * kPlanesThreads + thread) * kChunk;
    chunks[k] = is_full_input ? load_chunk(in + offset) : load_chunk_within(in, offset, plane_bytes * Planes);
  }
#pragma unroll
  for (int k = 0; k < Planes; ++k) shared[chunk_position<Planes>(k * kPlanesThreads + thread)] = chunks[k];
  __syncthreads();

  unsigned pixels[4 * Planes];
#pragma unroll
  for (int k = 0; k < Planes; ++k) put<Planes>(pixels, k, shared[thread * (Planes | 1) + k]);
  unsigned planes[4 * Planes];
  regroup<Element, Planes, true>(pixels, planes);
  if constexpr (Shifted) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Planes; ++k) shared[k * kPlanesThreads + thread] = get<Planes>(planes, k);
    __syncthreads();
    if (thread == 0) return;
  }
  std::byte* const out = job.out + item * job.out_item;
#pragma unroll
  for (int k = 0; k < Planes; ++k) {
    std::byte* const plane = out + k * job.out_pitch;
    uint4 chunk = get<Planes>(planes, k);
    const unsigned misaligned =
        Shifted ? static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(plane)) & 15U : 0U;
    if (misaligned > 0) chunk = chunk_within(shared[k * kPlanesThreads + thread - 1], chunk, 16 - misaligned);
    const std::int64_t offset = (first_group + thread) * kChunk - misaligned;
    if (is_full_tile) {
      *reinterpret_cast<uint4*>(plane + offset) = chunk;
    } else {
      store_chunk_within(plane, offset, chunk, 0, plane_bytes);
    }
  }
}

/// From planes to dense rows. As above. If planes or rows are `Shifted`, an aligned chunk of a plane contains
/// part of the previous group; the last chunk of a block is loaded only for that.
template <int Element, int Planes, bool Shifted>
__global__ void __launch_bounds__(kPlanesThreads) transpose_from_planes(const TallSkinnyJob params) {
  constexpr int kGroups = kPlanesThreads - Shifted;
  __shared__ uint4 shared[kPlanesThreads * (Planes | 1)];
  const Job& job = params.job;
  const unsigned item = blockIdx.x / params.tiles;
  const std::int64_t first_group = static_cast<std::int64_t>(blockIdx.x - item * params.tiles) * kGroups;
  const std::int64_t plane_bytes = job.cols * Element;
  const int thread = static_cast<int>(threadIdx.x);
  const bool is_full_tile = first_group >= Shifted && (first_group + kPlanesThreads) * kChunk <= plane_bytes;
  const std::byte* const in = job.in + item * job.in_item;
  const auto misaligned_of = [&](int k) {
    if (!Shifted) return 0U;
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in + k * job.in_pitch)) & 15U;
  };

  unsigned planes[4 * Planes];
#pragma unroll
  for (int k = 0; k < Planes; ++k) {
    const std::byte* const plane = in + k * job.in_pitch;
    const std::int64_t from = (first_group + thread) * kChunk - misaligned_of(k);
    put<Planes>(planes, k,
                is_full_tile ? *reinterpret_cast<const uint4*>(plane + from)
                             : load_chunk_within(plane, from, plane_bytes));
  }
  if constexpr (Shifted) {
#pragma unroll
    for (int k = 0; k < Planes; ++k) shared[k * kPlanesThreads + thread] = get<Planes>(planes, k);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Planes; ++k) {
      const uint4 next = shared[k * kPlanesThreads + min(thread + 1, kPlanesThreads - 1)];
      put<Planes>(planes, k, chunk_within(get<Planes>(planes, k), next, misaligned_of(k)));
    }
    __syncthreads();
  }
  unsigned pixels[4 * Planes];
  regroup<Element, Planes, false>(planes, pixels);
#pragma unroll
  for (int k = 0; k < Planes; ++k) shared[thread * (Planes | 1) + k] = get<Planes>(pixels, k);
  __syncthreads();

  std::byte* const out = job.out + item * job.out_item;
  const std::int64_t begin = first_group * (Planes * kChunk);
  const std::int64_t end = begin + kGroups * Planes * kChunk;
  const std::int64_t last = end < plane_bytes * Planes ? end : plane_bytes * Planes;
  const unsigned misaligned = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out)) & 15U;
#pragma unroll
  for (int k = 0; k < Planes; ++k) {
    const int number = k * kPlanesThreads + thread;
    uint4 chunk = shared[chunk_position<Planes>(number)];
    if (!Shifted && is_full_tile) {
      *reinterpret_cast<uint4*>(out + begin + number * kChunk) = chunk;
      continue;
    }
    if (Shifted && misaligned > 0) {
      const uint4 before = shared[chunk_position<Planes>(max(number - 1, 0))];
      chunk = chunk_within(before, chunk, 16 - misaligned);
    }
    // Chunks that straddle two blocks are stored in part.
    store_chunk_within(out, begin + number * kChunk - static_cast<int>(misaligned), chunk, begin, last);
  }
}

}  // namespace sepconv::transposing
