// The zero-copy variants: operands stay in page-locked host memory, and the first block that needs a tile
// copies it into a cache in the GPU's memory. Internal to bench/gemm/.
//
// A tile's flag goes from empty to loading to loaded. The block that sets "loading" has claimed the tile and
// copies it without waiting; other blocks wait until the tile is loaded. A block therefore waits only for a
// running block that does not wait itself, so no deadlock is possible in any order of blocks. The flag is
// stored with release semantics after a barrier of all threads that copied, and loaded with acquire semantics
// before a barrier of all threads that will read.
#pragma once

#include <cstdint>
#include <cuda/atomic>

namespace sepconv::gemm_variants {

/// Device addresses of the operands in host memory, and the cache. Pitches are in elements. A cached tile is
/// contiguous, with zeros outside the matrix. Tiles of a and of b are numbered in row-major order.
template <class T>
struct ZeroCopyArgs {
  const T* a;
  const T* b;
  T* out;
  T* a_tiles;
  T* b_tiles;
  int* a_flags;
  int* b_flags;
  std::int64_t a_pitch, b_pitch, out_pitch;
  std::int64_t m, n, k;
  std::int64_t k_tiles, col_tiles;  // tiles along k and along n
};

enum TileState : int { kEmpty, kLoading, kLoaded };  // zeroed memory is an empty cache

/// Called by one thread of a block. True if the block has claimed the tile and must load it; false once the
/// tile is loaded.
__device__ __forceinline__ bool claim_or_wait(int* flag) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> state(*flag);
  int current = state.load(cuda::memory_order_acquire);
  if (current == kEmpty && state.compare_exchange_strong(current, kLoading, cuda::memory_order_acquire))
    return true;
  while (current != kLoaded) current = state.load(cuda::memory_order_acquire);
  return false;
}

/// Loads or waits for `tile`, which begins at (first_row, first_col) of a rows x cols matrix. All threads of
/// the block may read it afterwards.
template <int kSide, class T>
__device__ __forceinline__ void ensure_tile(const T* matrix, std::int64_t pitch, std::int64_t rows,
                                            std::int64_t cols, std::int64_t first_row, std::int64_t first_col,
                                            T* tile, int* flag) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const bool first_thread = x == 0 && y == 0;
  const bool claimed = __syncthreads_or(first_thread && claim_or_wait(flag)) != 0;
  if (!claimed) return;
  const std::int64_t row = first_row + y, col = first_col + x;
  tile[y * kSide + x] = row < rows && col < cols ? matrix[row * pitch + col] : T{0};
  __syncthreads();
  if (first_thread)
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(kLoaded, cuda::memory_order_release);
}

template <class T, int kSide, bool kShared>
__global__ void __launch_bounds__(kSide* kSide) zero_copy(const ZeroCopyArgs<T> args) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::int64_t row_tile = blockIdx.x / args.col_tiles, col_tile = blockIdx.x % args.col_tiles;
  T sum = 0;
  for (std::int64_t step = 0; step < args.k_tiles; ++step) {
    const std::int64_t a_index = row_tile * args.k_tiles + step, b_index = step * args.col_tiles + col_tile;
    T* const a = args.a_tiles + a_index * kSide * kSide;
    T* const b = args.b_tiles + b_index * kSide * kSide;
    ensure_tile<kSide>(args.a, args.a_pitch, args.m, args.k, row_tile * kSide, step * kSide, a,
                       args.a_flags + a_index);
    ensure_tile<kSide>(args.b, args.b_pitch, args.k, args.n, step * kSide, col_tile * kSide, b,
                       args.b_flags + b_index);
    if constexpr (kShared) {
      // The barriers in ensure_tile() ensure that all threads have read the previous step's tiles.
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
  if (row < args.m && col < args.n) args.out[row * args.out_pitch + col] = sum;
}

}  // namespace sepconv::gemm_variants
