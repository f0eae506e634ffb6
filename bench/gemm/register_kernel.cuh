// Our rung: a block makes a tile of the result, a thread a small part of it in registers, so that every value
// that is read from shared memory enters several sums. While the threads compute with one pair of tiles of
// the operands, the next pair is on its way. Internal to bench/gemm/.
#pragma once

#include <cstdint>

#include "bench/gemm/element_kernels.cuh"

namespace sepconv::gemm_ladders {

/// Shape of the kernel. A warp's threads are kWarpRows x kWarpCols, so that its reads of shared memory are
/// few and without conflicts; a thread's part lies in groups of kVector neighbours, one group per kThreadRows
/// * kVector rows, and so for columns.
template <class T>
struct RegisterTiles {
  static constexpr int kVector = 16 / static_cast<int>(sizeof(T));  // elements that move together
  static constexpr int kRows = 8, kCols = sizeof(T) == 4 ? 8 : 4;   // of the result, of a thread
  static constexpr int kThreadRows = 16, kThreadCols = 16;
  static constexpr int kThreads = kThreadRows * kThreadCols;
  static constexpr int kWarpRows = 4, kWarpCols = 8;
  static constexpr int kBlockRows = kThreadRows * kRows, kBlockCols = kThreadCols * kCols;
  static constexpr int kDepth = 8;  // of the operands' tiles along k
};

/// A value of kVector elements in one register operand.
template <class T>
struct alignas(16) Vector {
  T at[RegisterTiles<T>::kVector];
};

/// A tile of kLength rows (of op(a)) or columns (of op(b)) by kDepth, on its way to shared memory as
/// [k][kLength]. kAlongK: the operand's own rows run along k.
template <class T, int kLength, bool kAlongK>
class TileInFlight {
  using Shape = RegisterTiles<T>;
  static constexpr int kVector = Shape::kVector, kDepth = Shape::kDepth;
  static constexpr int kInRow =
      (kAlongK ? kDepth : kLength) / kVector;  // vectors in a row of the operand's tile
  static constexpr int kVectors = kLength * kDepth / kVector / Shape::kThreads;
  static_assert(kVectors * kVector * Shape::kThreads == kLength * kDepth, "all threads load as much");

 public:
  static constexpr int kPitch =
      kLength + kVector;  // keeps rows aligned and what is stored down a column in more banks

  /// From `first` along the rows or columns and `first_k`, zeros beyond the matrix. `length` and `depth` are
  /// the whole operand's.
  __device__ __forceinline__ void load(const T* matrix, std::int64_t pitch, bool vectors, std::int64_t first,
                                       std::int64_t length, std::int64_t first_k, std::int64_t depth) {
    const std::int64_t rows = kAlongK ? length : depth, cols = kAlongK ? depth : length;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int index = static_cast<int>(threadIdx.x) + i * Shape::kThreads;
      const std::int64_t row = (kAlongK ? first : first_k) + index / kInRow;
      const std::int64_t col = (kAlongK ? first_k : first) + index % kInRow * kVector;
      const T* const from = matrix + row * pitch + col;
      if (vectors && row < rows && col + kVector <= cols) {
        loaded_[i] = *reinterpret_cast<const Vector<T>*>(from);
      } else {
#pragma unroll
        for (int v = 0; v < kVector; ++v) loaded_[i].at[v] = row < rows && col + v < cols ? from[v] : T{0};
      }
    }
  }

  __device__ __forceinline__ void store(T (&tile)[kDepth][kPitch]) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int index = static_cast<int>(threadIdx.x) + i * Shape::kThreads;
      const int row = index / kInRow, col = index % kInRow * kVector;
      if constexpr (kAlongK) {
#pragma unroll
        for (int v = 0; v < kVector; ++v) tile[col + v][row] = loaded_[i].at[v];
      } else {
        *reinterpret_cast<Vector<T>*>(&tile[row][col]) = loaded_[i];
      }
    }
  }

 private:
  Vector<T> loaded_[kVectors];
};

/// kCount values from a row of a tile: a thread's groups.
template <class T, int kCount, int kThreadsAlong>
__device__ __forceinline__ void read_groups(const T* row, int thread, T (&values)[kCount]) {
  constexpr int kVector = RegisterTiles<T>::kVector;
#pragma unroll
  for (int group = 0; group < kCount / kVector; ++group) {
    const auto read = *reinterpret_cast<const Vector<T>*>(row + (group * kThreadsAlong + thread) * kVector);
#pragma unroll
    for (int v = 0; v < kVector; ++v) values[group * kVector + v] = read.at[v];
  }
}

/// A thread's sums, with what is added, where the result has room for them.
template <class T>
__device__ __forceinline__ void store_sums(
    const Work<T>& work, std::int64_t first_row, std::int64_t first_col, int thread_row, int thread_col,
    const T (&sums)[RegisterTiles<T>::kRows][RegisterTiles<T>::kCols]) {
  using Shape = RegisterTiles<T>;
  constexpr int kVector = Shape::kVector;
#pragma unroll
  for (int i = 0; i < Shape::kRows; ++i) {
    const std::int64_t row =
        first_row + (i / kVector * Shape::kThreadRows + thread_row) * kVector + i % kVector;
    if (row >= work.m) continue;
#pragma unroll
    for (int j = 0; j < Shape::kCols; j += kVector) {
      const std::int64_t col = first_col + (j / kVector * Shape::kThreadCols + thread_col) * kVector;
      if (work.out_vectors && work.added == nullptr && col + kVector <= work.n) {
        Vector<T> all;
#pragma unroll
        for (int v = 0; v < kVector; ++v) all.at[v] = sums[i][j + v];
        *reinterpret_cast<Vector<T>*>(work.out + row * work.out_pitch + col) = all;
      } else {
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          if (col + v < work.n) work.store(row, col + v, sums[i][j + v]);
        }
      }
    }
  }
}

template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(RegisterTiles<T>::kThreads, 2) register_tiles(const Work<T> work) {
  using Shape = RegisterTiles<T>;
  using ATile = TileInFlight<T, Shape::kBlockRows, !kTransA>;
  using BTile = TileInFlight<T, Shape::kBlockCols, kTransB>;
  __shared__ alignas(16) T a_tiles[2][Shape::kDepth][ATile::kPitch];
  __shared__ alignas(16) T b_tiles[2][Shape::kDepth][BTile::kPitch];

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kWarpsAcross = Shape::kThreadCols / Shape::kWarpCols;
  const int thread_row = warp / kWarpsAcross * Shape::kWarpRows + lane / Shape::kWarpCols;
  const int thread_col = warp % kWarpsAcross * Shape::kWarpCols + lane % Shape::kWarpCols;
  const std::int64_t block = blockIdx.x;
  const std::int64_t first_row = block / work.col_tiles * Shape::kBlockRows;
  const std::int64_t first_col = block % work.col_tiles * Shape::kBlockCols;

  ATile a;
  BTile b;
  const auto load = [&](std::int64_t first_k) {
    a.load(work.a, work.a_pitch, work.a_vectors, first_row, work.m, first_k, work.k);
    b.load(work.b, work.b_pitch, work.b_vectors, first_col, work.n, first_k, work.k);
  };
  T sums[Shape::kRows][Shape::kCols] = {};
  load(0);
  a.store(a_tiles[0]), b.store(b_tiles[0]);
  __syncthreads();
  int now = 0;
  for (std::int64_t first_k = 0; first_k < work.k; first_k += Shape::kDepth) {
    const bool more = first_k + Shape::kDepth < work.k;
    if (more) load(first_k + Shape::kDepth);
#pragma unroll
    for (int k = 0; k < Shape::kDepth; ++k) {
      T left[Shape::kRows], right[Shape::kCols];
      read_groups<T, Shape::kRows, Shape::kThreadRows>(a_tiles[now][k], thread_row, left);
      read_groups<T, Shape::kCols, Shape::kThreadCols>(b_tiles[now][k], thread_col, right);
#pragma unroll
      for (int i = 0; i < Shape::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Shape::kCols; ++j) sums[i][j] = fma(left[i], right[j], sums[i][j]);
      }
    }
    if (!more) break;
    // Nobody reads the other pair any more: all passed the barrier after they had.
    now = 1 - now;
    a.store(a_tiles[now]), b.store(b_tiles[now]);
    __syncthreads();
  }
  store_sums(work, first_row, first_col, thread_row, thread_col, sums);
}

}  // namespace sepconv::gemm_ladders
