// Chunks: the 16 bytes that a thread moves in one access if a matrix is short in one direction. A chunk at an
// unaligned address is combined from two aligned chunks.
#pragma once

#include "kernels/transpose/device_tiles.cuh"

namespace sepconv::transposing {

constexpr int kChunk = 16;

__device__ inline uint4 make_chunk(const unsigned (&words)[4]) {
  return uint4{words[0], words[1], words[2], words[3]};
}

__device__ inline void put_chunk(unsigned (&words)[4], uint4 chunk) {
  words[0] = chunk.x;
  words[1] = chunk.y;
  words[2] = chunk.z;
  words[3] = chunk.w;
}
/// Element `i` of a chunk. put_element() expects zeros at its position.
template <int Element>
__device__ inline Word<Element> get_element(const unsigned (&words)[4], int i) {
  if constexpr (Element < 4) {
    return static_cast<Word<Element>>(words[i * Element / 4] >> (8 * (i * Element % 4)));
  } else if constexpr (Element == 4) {
    return words[i];
  } else if constexpr (Element == 8) {
    return uint2{words[2 * i], words[2 * i + 1]};
  } else {
    return make_chunk(words);
  }
}
template <int Element>
__device__ inline void put_element(unsigned (&words)[4], int i, Word<Element> value) {
  if constexpr (Element < 4) {
    words[i * Element / 4] |= static_cast<unsigned>(value) << (8 * (i * Element % 4));
  } else if constexpr (Element == 4) {
    words[i] = value;
  } else if constexpr (Element == 8) {
    words[2 * i] = value.x;
    words[2 * i + 1] = value.y;
  } else {
    put_chunk(words, value);
  }
}

/// The 16 bytes that begin at byte `start` (below 16) of two consecutive chunks.
__device__ inline uint4 chunk_within(uint4 first, uint4 second, unsigned start) {
  const unsigned words[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
  unsigned shifted_8_bytes[6];
#pragma unroll
  for (int i = 0; i < 6; ++i) shifted_8_bytes[i] = start & 8U ? words[i + 2] : words[i];
  unsigned shifted_4_bytes[5];
#pragma unroll
  for (int i = 0; i < 5; ++i) shifted_4_bytes[i] = start & 4U ? shifted_8_bytes[i + 1] : shifted_8_bytes[i];
  unsigned shifted[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    shifted[i] = __funnelshift_r(shifted_4_bytes[i], shifted_4_bytes[i + 1], 8 * (start & 3U));
  return make_chunk(shifted);
}

/// Bytes [offset, offset + 16) of a piece. Bytes outside [0, end) are not read and are returned as 0. Used at
/// the edges of matrices only.
__device__ inline uint4 load_chunk_within(const std::byte* piece, std::int64_t offset, std::int64_t end) {
  unsigned words[4] = {};
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    if (offset + i >= 0 && offset + i < end)
      words[i / 4] |= static_cast<unsigned>(piece[offset + i]) << (8 * (i % 4));
  }
  return make_chunk(words);
}

/// Whether load_chunk() may be used for bytes [begin, end) of a piece: it reads the aligned chunks that
/// contain them, and all bytes of those must belong to the piece.
__device__ inline bool chunks_inside(const std::byte* piece, std::int64_t begin, std::int64_t end,
                                     std::int64_t bytes) {
  const int margin = reinterpret_cast<std::uintptr_t>(piece) % kChunk == 0 ? 0 : kChunk;
  return begin >= margin && end + margin <= bytes;
}
/// Loads the chunk at any address.
__device__ inline uint4 load_chunk(const std::byte* from) {
  const unsigned start = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from)) & 15U;
  const uint4* const aligned = reinterpret_cast<const uint4*>(from - start);
  if (start == 0) return *aligned;
  return chunk_within(aligned[0], aligned[1], start);
}

/// Stores the bytes of a chunk that are in [begin, end) of the piece; piece + offset is aligned.
__device__ inline void store_chunk_within(std::byte* piece, std::int64_t offset, uint4 chunk,
                                          std::int64_t begin, std::int64_t end) {
  if (offset >= begin && offset + kChunk <= end) {
    *reinterpret_cast<uint4*>(piece + offset) = chunk;
    return;
  }
  const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    if (offset + i >= begin && offset + i < end)
      piece[offset + i] = static_cast<std::byte>(words[i / 4] >> (8 * (i % 4)));
  }
}

}  // namespace sepconv::transposing
