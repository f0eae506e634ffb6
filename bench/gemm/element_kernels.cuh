// Variants thread_per_element and shared_tiles: a thread computes one element of the result. The kernels read
// op(a) and op(b); a transposed operand is read in its stored layout. Internal to bench/gemm/.
#pragma once

#include <cstdint>

namespace sepconv::gemm_variants {

/// Matrices on the device; pitches in elements.
template <class T>
struct ProductArgs {
  const T* a;
  const T* b;
  const T* added;  // may be null
  T* out;
  std::int64_t a_pitch, b_pitch, added_pitch, out_pitch;
  std::int64_t m, n, k;
  // Tiles per row of tiles. Blocks are numbered in row-major order along x, the grid's longest axis.
  std::int64_t col_tiles;
  bool a_vectorizable, b_vectorizable, out_vectorizable;  // addresses and pitches are multiples of 16 bytes

  __device__ __forceinline__ void store(std::int64_t row, std::int64_t col, T sum) const {
    out[row * out_pitch + col] = added != nullptr ? sum + added[row * added_pitch + col] : sum;
  }
};

constexpr int kElementSide = 16;  // of a block, in threads and elements
constexpr int kElementThreads = kElementSide * kElementSide;

template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(kElementThreads) thread_per_element(const ProductArgs<T> args) {
  const std::int64_t block = blockIdx.x;
  const std::int64_t row = block / args.col_tiles * kElementSide + threadIdx.y;
  const std::int64_t col = block % args.col_tiles * kElementSide + threadIdx.x;
  if (row >= args.m || col >= args.n) return;
  T sum = 0;
  for (std::int64_t k = 0; k < args.k; ++k) {
    const T a = kTransA ? args.a[k * args.a_pitch + row] : args.a[row * args.a_pitch + k];
    const T b = kTransB ? args.b[col * args.b_pitch + k] : args.b[k * args.b_pitch + col];
    sum = fma(a, b, sum);
  }
  args.store(row, col, sum);
}

/// Adjacent threads read adjacent elements for either layout of an operand; a transposed operand is
/// transposed when stored to shared memory. The column of padding puts the elements of a tile's column into
/// different banks. Elements outside the matrices are 0, which changes no sum.
template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(kElementThreads) shared_tiles(const ProductArgs<T> args) {
  __shared__ T a_tile[kElementSide][kElementSide + 1];  // [row][k]
  __shared__ T b_tile[kElementSide][kElementSide + 1];  // [k][col]
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t block = blockIdx.x;
  const std::int64_t first_row = block / args.col_tiles * kElementSide,
                     first_col = block % args.col_tiles * kElementSide;
  const auto load_or_zero = [](const T* matrix, std::int64_t pitch, std::int64_t row, std::int64_t col,
                               std::int64_t rows, std::int64_t cols) {
    return row < rows && col < cols ? matrix[row * pitch + col] : T{0};
  };
  T sum = 0;
  for (std::int64_t first_k = 0; first_k < args.k; first_k += kElementSide) {
    if constexpr (kTransA) {
      a_tile[x][y] = load_or_zero(args.a, args.a_pitch, first_k + y, first_row + x, args.k, args.m);
    } else {
      a_tile[y][x] = load_or_zero(args.a, args.a_pitch, first_row + y, first_k + x, args.m, args.k);
    }
    if constexpr (kTransB) {
      b_tile[x][y] = load_or_zero(args.b, args.b_pitch, first_col + y, first_k + x, args.n, args.k);
    } else {
      b_tile[y][x] = load_or_zero(args.b, args.b_pitch, first_k + y, first_col + x, args.k, args.n);
    }
    __syncthreads();  // all threads have stored before any thread reads
#pragma unroll
    for (int k = 0; k < kElementSide; ++k) sum = fma(a_tile[y][k], b_tile[k][x], sum);
    __syncthreads();  // all threads have read before any thread stores the next tiles
  }
  if (first_row + y < args.m && first_col + x < args.n) args.store(first_row + y, first_col + x, sum);
}

}  // namespace sepconv::gemm_variants
