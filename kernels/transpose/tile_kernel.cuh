// Transposition of elements of 1, 2, 4, 8 and 16 bytes at word-aligned addresses: a block loads whole rows of
// a tile (all loads are issued before the first result is used), transposes micro tiles of 1- and 2-byte
// elements in registers, exchanges words through shared memory, and stores whole rows.
#pragma once

#include "kernels/transpose/device_tiles.cuh"

namespace sepconv::transposing {

/// Transposes a micro tile: word k is row k on entry and column k on return.
__device__ inline void transpose_micro(unsigned (&words)[4]) {
  const unsigned a = __byte_perm(words[0], words[1], 0x5140);  // rows 0 and 1 interleaved: columns 0 and 1
  const unsigned b = __byte_perm(words[2], words[3], 0x5140);
  const unsigned c = __byte_perm(words[0], words[1], 0x7362);  // columns 2 and 3
  const unsigned d = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(a, b, 0x5410);
  words[1] = __byte_perm(a, b, 0x7632);
  words[2] = __byte_perm(c, d, 0x5410);
  words[3] = __byte_perm(c, d, 0x7632);
}
__device__ inline void transpose_micro(unsigned (&words)[2]) {
  const unsigned first = words[0];
  words[0] = __byte_perm(first, words[1], 0x5410);
  words[1] = __byte_perm(first, words[1], 0x7632);
}
template <class T>
__device__ inline void transpose_micro(T (&)[1]) {}

/// Assignment of a tile's words to threads: lanes along a row of RowWords words, the threads of a block over
/// `Rows` rows.
template <int RowWords, int Rows, int Threads>
struct WarpLayout {
  static constexpr int kLanes = RowWords < 32 ? RowWords : 32;
  static constexpr int kAcross = RowWords / kLanes;  // steps along a row
  static constexpr int kRowsAtOnce = Threads / kLanes;
  static constexpr int kSteps = kAcross * Rows / kRowsAtOnce;
  static_assert(RowWords % kLanes == 0 && Threads % kLanes == 0 && Rows % kRowsAtOnce == 0);
  static __device__ int word(int step) {
    return static_cast<int>(threadIdx.x) % kLanes + kLanes * (step % kAcross);
  }
  static __device__ int row(int step) {
    return static_cast<int>(threadIdx.x) / kLanes + kRowsAtOnce * (step / kAcross);
  }
};

/// Loads and stores of words; Streaming accesses are evicted from the cache first.
template <bool Streaming, class T>
__device__ inline T load_word(const std::byte* from) {
  const T* const word = reinterpret_cast<const T*>(from);
  return Streaming ? __ldcs(word) : *word;
}
template <bool Streaming, class T>
__device__ inline void store_word(std::byte* to, T value) {
  T* const word = reinterpret_cast<T*>(to);
  if (Streaming) {
    __stcs(word, value);
  } else {
    *word = value;
  }
}

/// Loads a word of which only the first `valid` bytes are inside the matrix.
template <bool Streaming, class Tile, class T>
__device__ inline T load_edge_word(const std::byte* from, std::int64_t valid) {
  if (valid >= Tile::kWordBytes) return load_word<Streaming, T>(from);
  if constexpr (Tile::kMicro > 1) {
    if (valid > 0) return load_bytes(from, static_cast<int>(valid));
  }
  return T{};
}
template <bool Streaming, class Tile, class T>
__device__ inline void store_edge_word(std::byte* to, T value, std::int64_t valid) {
  if (valid >= Tile::kWordBytes) return store_word<Streaming, T>(to, value);
  if constexpr (Tile::kMicro > 1) {
    if (valid > 0) store_bytes(to, value, static_cast<int>(valid));
  }
}

/// Block: Tile::kThreads. Grid: one block per tile.
template <class Tile, bool StreamingLoads, bool StreamingStores>
__global__ void __launch_bounds__(Tile::kThreads) transpose_tile(const Job job) {
  using T = Word<Tile::kWordBytes>;
  constexpr int kMicro = Tile::kMicro;
  using Loads = WarpLayout<Tile::kInWords, Tile::kOutWords, Tile::kThreads>;  // rows of micro tiles
  using Stores = WarpLayout<Tile::kOutWords, Tile::kInWords * kMicro, Tile::kThreads>;
  __shared__ T tile[kMicro][Tile::kInWords][Tile::kPitch];

  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t first_row = static_cast<std::int64_t>(at.row) * Tile::kRows;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * Tile::kCols;
  const int rows = clamped_count(job.rows - first_row, Tile::kRows);
  const int cols = clamped_count(job.cols - first_col, Tile::kCols);
  const bool is_full_tile = rows == Tile::kRows && cols == Tile::kCols;
  const std::byte* const in =
      job.in + at.item * job.in_item + first_row * job.in_pitch + first_col * Tile::kElementBytes;
  std::byte* const out =
      job.out + at.item * job.out_item + first_col * job.out_pitch + first_row * Tile::kElementBytes;

  T words[Loads::kSteps][kMicro];
  if (is_full_tile) {
#pragma unroll
    for (int step = 0; step < Loads::kSteps; ++step) {
#pragma unroll
      for (int micro_row = 0; micro_row < kMicro; ++micro_row) {
        words[step][micro_row] =
            load_word<StreamingLoads, T>(in + (Loads::row(step) * kMicro + micro_row) * job.in_pitch +
                                         Loads::word(step) * Tile::kWordBytes);
      }
    }
  } else {
#pragma unroll
    for (int step = 0; step < Loads::kSteps; ++step) {
#pragma unroll
      for (int micro_row = 0; micro_row < kMicro; ++micro_row) {
        const int row = Loads::row(step) * kMicro + micro_row;
        const int valid = row < rows ? cols * Tile::kElementBytes - Loads::word(step) * Tile::kWordBytes : 0;
        words[step][micro_row] = load_edge_word<StreamingLoads, Tile, T>(
            in + row * job.in_pitch + Loads::word(step) * Tile::kWordBytes, valid);
      }
    }
  }
#pragma unroll
  for (int step = 0; step < Loads::kSteps; ++step) {
    transpose_micro(words[step]);
#pragma unroll
    for (int micro_row = 0; micro_row < kMicro; ++micro_row)
      tile[micro_row][Loads::word(step)][Loads::row(step)] = words[step][micro_row];
  }
  __syncthreads();

  if (is_full_tile) {
#pragma unroll
    for (int step = 0; step < Stores::kSteps; ++step) {
      const int col = Stores::row(step);
      store_word<StreamingStores, T>(out + col * job.out_pitch + Stores::word(step) * Tile::kWordBytes,
                                     tile[col % kMicro][col / kMicro][Stores::word(step)]);
    }
  } else {
#pragma unroll
    for (int step = 0; step < Stores::kSteps; ++step) {
      const int col = Stores::row(step);
      const int valid = col < cols ? rows * Tile::kElementBytes - Stores::word(step) * Tile::kWordBytes : 0;
      store_edge_word<StreamingStores, Tile, T>(
          out + col * job.out_pitch + Stores::word(step) * Tile::kWordBytes,
          tile[col % kMicro][col / kMicro][Stores::word(step)], valid);
    }
  }
}

}  // namespace sepconv::transposing
