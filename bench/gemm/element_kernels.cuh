// The first two rungs: a thread has one element of the result. What the kernels read is op(a) and op(b); an
// operand that is transposed is read where it lies. Internal to bench/gemm/.
#pragma once

#include <cstdint>

namespace sepconv::gemm_ladders {

/// Matrices on the device; pitches in elements.
template <class T>
struct Work {
  const T* a;
  const T* b;
  const T* added;  // may be null
  T* out;
  std::int64_t a_pitch, b_pitch, added_pitch, out_pitch;
  std::int64_t m, n, k;
  std::int64_t col_tiles;  // blocks are numbered along the rows of tiles, so that there may be as many as the
                           // x axis has
  bool a_vectors, b_vectors, out_vectors;  // addresses and pitches are multiples of 16 bytes

  __device__ __forceinline__ void store(std::int64_t row, std::int64_t col, T sum) const {
    out[row * out_pitch + col] = added != nullptr ? sum + added[row * added_pitch + col] : sum;
  }
};

constexpr int kElementSide = 16;  // of a block, in threads and elements
constexpr int kElementThreads = kElementSide * kElementSide;

template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(kElementThreads) thread_an_element(const Work<T> work) {
  const std::int64_t block = blockIdx.x;
  const std::int64_t row = block / work.col_tiles * kElementSide + threadIdx.y;
  const std::int64_t col = block % work.col_tiles * kElementSide + threadIdx.x;
  if (row >= work.m || col >= work.n) return;
  T sum = 0;
  for (std::int64_t k = 0; k < work.k; ++k) {
    const T a = kTransA ? work.a[k * work.a_pitch + row] : work.a[row * work.a_pitch + k];
    const T b = kTransB ? work.b[col * work.b_pitch + k] : work.b[k * work.b_pitch + col];
    sum = fma(a, b, sum);
  }
  work.store(row, col, sum);
}

/// Neighbours read neighbours, whichever way an operand lies, and turn it when they store. The column of
/// padding keeps what is stored down a column, or read down one, in different banks. Beyond the matrices
/// there are zeros, which change no sum.
template <class T, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(kElementThreads) shared_tiles(const Work<T> work) {
  __shared__ T a_tile[kElementSide][kElementSide + 1];  // [row][k]
  __shared__ T b_tile[kElementSide][kElementSide + 1];  // [k][col]
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t block = blockIdx.x;
  const std::int64_t first_row = block / work.col_tiles * kElementSide,
                     first_col = block % work.col_tiles * kElementSide;
  const auto value = [](const T* matrix, std::int64_t pitch, std::int64_t row, std::int64_t col,
                        std::int64_t rows, std::int64_t cols) {
    return row < rows && col < cols ? matrix[row * pitch + col] : T{0};
  };
  T sum = 0;
  for (std::int64_t first = 0; first < work.k; first += kElementSide) {
    if constexpr (kTransA) {
      a_tile[x][y] = value(work.a, work.a_pitch, first + y, first_row + x, work.k, work.m);
    } else {
      a_tile[y][x] = value(work.a, work.a_pitch, first_row + y, first + x, work.m, work.k);
    }
    if constexpr (kTransB) {
      b_tile[x][y] = value(work.b, work.b_pitch, first_col + y, first + x, work.n, work.k);
    } else {
      b_tile[y][x] = value(work.b, work.b_pitch, first + y, first_col + x, work.k, work.n);
    }
    __syncthreads();  // all have stored before any reads
#pragma unroll
    for (int k = 0; k < kElementSide; ++k) sum = fma(a_tile[y][k], b_tile[k][x], sum);
    __syncthreads();  // all have read before any stores the next tiles
  }
  if (first_row + y < work.m && first_col + x < work.n) work.store(first_row + y, first_col + x, sum);
}

}  // namespace sepconv::gemm_ladders
