// The zero-copy rungs: operands stay in page-locked memory of the host, and a block brings a tile into a
// cache in the GPU's memory when it is the first to need it. Internal to bench/gemm/.
//
// A tile's flag goes from empty to coming to there. The block that makes it "coming" has claimed the tile and
// copies it without waiting for anything; other blocks wait until it is there. So a block only waits for one
// that runs and that waits for nobody: there is no deadlock, in whatever order blocks start. The flag is set
// with release after a barrier of all threads that copied, and read with acquire before a barrier of all
// threads that will read.
#pragma once

#include <cstdint>
#include <cuda/atomic>

namespace sepconv::gemm_ladders {

/// Operands as the device sees them in the host's memory, and the cache. Pitches in elements. A tile is dense
/// in the cache, with zeros beyond the matrix. Tiles of a are numbered along its rows, and so are those of b.
template <class T>
struct ZeroCopyWork {
  const T* a;
  const T* b;
  T* out;
  T* a_tiles;
  T* b_tiles;
  int* a_flags;
  int* b_flags;
  std::int64_t a_pitch, b_pitch, out_pitch;
  std::int64_t m, n, k;
  std::int64_t steps, col_tiles;  // tiles along k and along n
};

enum TileState : int { kEmpty, kComing, kThere };  // memory of zeros is an empty cache

/// By one thread of a block: true if the block now has to bring the tile; else the tile is there.
__device__ __forceinline__ bool claim_or_wait(int* flag) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> state(*flag);
  int seen = state.load(cuda::memory_order_acquire);
  if (seen == kEmpty && state.compare_exchange_strong(seen, kComing, cuda::memory_order_acquire)) return true;
  while (seen != kThere) seen = state.load(cuda::memory_order_acquire);
  return false;
}

/// Returns when all threads of the block may read `tile`, which begins at this row and column of a matrix of
/// rows x cols.
template <int kSide, class T>
__device__ __forceinline__ void need_tile(const T* matrix, std::int64_t pitch, std::int64_t rows,
                                          std::int64_t cols, std::int64_t first_row, std::int64_t first_col,
                                          T* tile, int* flag) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const bool first_thread = x == 0 && y == 0;
  const bool mine = __syncthreads_or(first_thread && claim_or_wait(flag)) != 0;
  if (!mine) return;
  const std::int64_t row = first_row + y, col = first_col + x;
  tile[y * kSide + x] = row < rows && col < cols ? matrix[row * pitch + col] : T{0};
  __syncthreads();
  if (first_thread)
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(kThere, cuda::memory_order_release);
}

template <class T, int kSide, bool kShared>
__global__ void __launch_bounds__(kSide* kSide) zero_copy(const ZeroCopyWork<T> work) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row_tile = blockIdx.x / work.col_tiles, col_tile = blockIdx.x % work.col_tiles;
  T sum = 0;
  for (std::int64_t step = 0; step < work.steps; ++step) {
    const std::int64_t a_index = row_tile * work.steps + step, b_index = step * work.col_tiles + col_tile;
    T* const a = work.a_tiles + a_index * kSide * kSide;
    T* const b = work.b_tiles + b_index * kSide * kSide;
    need_tile<kSide>(work.a, work.a_pitch, work.m, work.k, row_tile * kSide, step * kSide, a,
                     work.a_flags + a_index);
    need_tile<kSide>(work.b, work.b_pitch, work.k, work.n, step * kSide, col_tile * kSide, b,
                     work.b_flags + b_index);
    if constexpr (kShared) {
      // For the barriers in need_tile, those for this step came after all threads had read the step before.
      __shared__ T a_tile[kSide][kSide];
      __shared__ T b_tile[kSide][kSide];
      a_tile[y][x] = a[y * kSide + x];
      b_tile[y][x] = b[y * kSide + x];
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kSide; ++k) sum = fma(a_tile[y][k], b_tile[k][x], sum);
    } else {
#pragma unroll
      for (int k = 0; k < kSide; ++k) sum = fma(a[y * kSide + k], b[k * kSide + x], sum);
    }
  }
  const std::int64_t row = row_tile * kSide + y, col = col_tile * kSide + x;
  if (row < work.m && col < work.n) work.out[row * work.out_pitch + col] = sum;
}

}  // namespace sepconv::gemm_ladders
