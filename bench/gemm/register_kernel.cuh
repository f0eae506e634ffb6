// Variant register_tiles: a block computes a tile of the result, and each thread a small part of it in
// registers, so that every value read from shared memory enters several sums. While the threads compute with
// one pair of operand tiles, the next pair is loaded. Internal to bench/gemm/.
#pragma once

#include <cstdint>

#include "bench/gemm/element_kernels.cuh"

namespace sepconv::gemm_variants {

/// Shape of the kernel. A warp's threads are kWarpRows x kWarpCols, so that its reads of shared memory are
/// few and without bank conflicts. A thread's elements are groups of kVector adjacent rows, one group per
/// kThreadRows * kVector rows; the same applies to columns.
template <class T>
struct RegisterTiles {
  static constexpr int kVector = 16 / static_cast<int>(sizeof(T));  // elements per 16-byte access
  static constexpr int kRows = 8, kCols = sizeof(T) == 4 ? 8 : 4;   // result elements per thread
  static constexpr int kThreadRows = 16, kThreadCols = 16;
  static constexpr int kThreads = kThreadRows * kThreadCols;
  static constexpr int kWarpRows = 4, kWarpCols = 8;
  static constexpr int kBlockRows = kThreadRows * kRows, kBlockCols = kThreadCols * kCols;
  static constexpr int kDepth = 8;  // of the operands' tiles along k
};

/// kVector elements that are loaded or stored by one instruction.
template <class T>
struct alignas(16) Vector {
  T elements[RegisterTiles<T>::kVector];
};

/// A tile of kLength rows of op(a) or columns of op(b) by kDepth, in registers between global memory and
/// shared memory, where its layout is [k][kLength]. kAlongK: the operand's stored rows run along k.
template <class T, int kLength, bool kAlongK>
class TileInRegisters {
  using Shape = RegisterTiles<T>;
  static constexpr int kVector = Shape::kVector, kDepth = Shape::kDepth;
  // Vectors per row of the operand's tile.
  static constexpr int kVectorsPerRow = (kAlongK ? kDepth : kLength) / kVector;
  static constexpr int kVectors = kLength * kDepth / kVector / Shape::kThreads;
  static_assert(kVectors * kVector * Shape::kThreads == kLength * kDepth, "all threads load as much");

 public:
  // Padding keeps rows aligned and spreads stores down a column over more banks.
  static constexpr int kPitch = kLength + kVector;

  /// Loads the tile that begins at row or column `first` and at `first_k`, with zeros outside the matrix.
  /// `length` and `depth` are the dimensions of the whole operand.
  __device__ __forceinline__ void load(const T* matrix, std::int64_t pitch, bool vectorizable,
                                       std::int64_t first, std::int64_t length, std::int64_t first_k,
                                       std::int64_t depth) {
    const std::int64_t rows = kAlongK ? length : depth, cols = kAlongK ? depth : length;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int index = static_cast<int>(threadIdx.x) + i * Shape::kThreads;
      const std::int64_t row = (kAlongK ? first : first_k) + index / kVectorsPerRow;
      const std::int64_t col = (kAlongK ? first_k : first) + index % kVectorsPerRow * kVector;
      const T* const source = matrix + row * pitch + col;
      if (vectorizable && row < rows && col + kVector <= cols) {
        loaded_[i] = *reinterpret_cast<const Vector<T>*>(source);
      } else {
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          loaded_[i].elements[v] = row < rows && col + v < cols ? source[v] : T{0};
      }
    }
  }

  __device__ __forceinline__ void store(T (&tile)[kDepth][kPitch]) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int index = static_cast<int>(threadIdx.x) + i * Shape::kThreads;
      const int row = index / kVectorsPerRow, col = index % kVectorsPerRow * kVector;
      if constexpr (kAlongK) {
#pragma unroll
        for (int v = 0; v < kVector; ++v) tile[col + v][row] = loaded_[i].elements[v];
      } else {
        *reinterpret_cast<Vector<T>*>(&tile[row][col]) = loaded_[i];
      }
    }
  }

 private:
  Vector<T> loaded_[kVectors];
};

/// Reads a thread's kCount values, its groups, from a row of a tile.
template <class T, int kCount, int kThreadsAlong>
__device__ __forceinline__ void read_groups(const T* row, int thread, T (&values)[kCount]) {
  constexpr int kVector = RegisterTiles<T>::kVector;
#pragma unroll
  for (int group = 0; group < kCount / kVector; ++group) {
    const auto vector = *reinterpret_cast<const Vector<T>*>(row + (group * kThreadsAlong + thread) * kVector);
#pragma unroll
    for (int v = 0; v < kVector; ++v) values[group * kVector + v] = vector.elements[v];
  }
}

/// Stores those of a thread's sums that are inside the result, plus `added`.
template <class T>
__device__ __forceinline__ void store_sums(
    const ProductArgs<T>& args, std::int64_t first_row, std::int64_t first_col, int thread_row,
    int thread_col, const T (&sums)[RegisterTiles<T>::kRows][RegisterTiles<T>::kCols]) {
  using Shape = RegisterTiles<T>;
  constexpr int kVector = Shape::kVector;
#pragma unroll
  for (int i = 0; i < Shape::kRows; ++i) {
    const std::int64_t row =
        first_row + (i / kVector * Shape::kThreadRows + thread_row) * kVector + i % kVector;
    if (row >= args.m) continue;
#pragma unroll
    for (int j = 0; j < Shape::kCols; j += kVector) {
      const std::int64_t col = first_col + (j / kVector * Shape::kThreadCols + thread_col) * kVector;
      if (args.out_vectorizable && args.added == nullptr && col + kVector <= args.n) {
        Vector<T> vector;
#pragma unroll
        for (int v = 0; v < kVector; ++v) vector.elements[v] = sums[i][j + v];
        *reinterpret_cast<Vector<T>*>(args.out + row * args.out_pitch + col) = vector;
      } else {
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          if (col + v < args.n) args.store(row, col + v, sums[i][j + v]);
        }
      }
    }
  }
}

template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(RegisterTiles<T>::kThreads, 2) register_tiles(const ProductArgs<T> args) {
  using Shape = RegisterTiles<T>;
  using ATile = TileInRegisters<T, Shape::kBlockRows, !kTransA>;
  using BTile = TileInRegisters<T, Shape::kBlockCols, kTransB>;
  __shared__ alignas(16) T a_tiles[2][Shape::kDepth][ATile::kPitch];
  __shared__ alignas(16) T b_tiles[2][Shape::kDepth][BTile::kPitch];

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kWarpsAcross = Shape::kThreadCols / Shape::kWarpCols;
  const int thread_row = warp / kWarpsAcross * Shape::kWarpRows + lane / Shape::kWarpCols;
  const int thread_col = warp % kWarpsAcross * Shape::kWarpCols + lane % Shape::kWarpCols;
  const std::int64_t block = blockIdx.x;
  const std::int64_t first_row = block / args.col_tiles * Shape::kBlockRows;
  const std::int64_t first_col = block % args.col_tiles * Shape::kBlockCols;

  ATile a;
  BTile b;
  const auto load = [&](std::int64_t first_k) {
    a.load(args.a, args.a_pitch, args.a_vectorizable, first_row, args.m, first_k, args.k);
    b.load(args.b, args.b_pitch, args.b_vectorizable, first_col, args.n, first_k, args.k);
  };
  T sums[Shape::kRows][Shape::kCols] = {};
  load(0);
  a.store(a_tiles[0]), b.store(b_tiles[0]);
  __syncthreads();
  int current = 0;
  for (std::int64_t first_k = 0; first_k < args.k; first_k += Shape::kDepth) {
    const bool has_next = first_k + Shape::kDepth < args.k;
    if (has_next) load(first_k + Shape::kDepth);
#pragma unroll
    for (int k = 0; k < Shape::kDepth; ++k) {
      T left[Shape::kRows], right[Shape::kCols];
      read_groups<T, Shape::kRows, Shape::kThreadRows>(a_tiles[current][k], thread_row, left);
      read_groups<T, Shape::kCols, Shape::kThreadCols>(b_tiles[current][k], thread_col, right);
#pragma unroll
      for (int i = 0; i < Shape::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Shape::kCols; ++j) sums[i][j] = fma(left[i], right[j], sums[i][j]);
      }
    }
    if (!has_next) break;
    // The other pair is free: all threads passed the last barrier after reading it.
    current = 1 - current;
    a.store(a_tiles[current]), b.store(b_tiles[current]);
    __syncthreads();
  }
  store_sums(args, first_row, first_col, thread_row, thread_col, sums);
}

}  // namespace sepconv::gemm_variants
