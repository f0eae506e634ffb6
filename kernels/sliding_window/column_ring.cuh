// Windows down columns: each thread processes 8 rows at a time and buffers windows of 8, 16, 32, ... rows in
// shared memory for reuse. Private to this folder.
#pragma once

#include "kernels/sliding_window/window_elements.cuh"

namespace sepconv::engine {

constexpr int kBlockRows = 8;

/// Ring buffers of rows in shared memory, counted in blocks of 8 rows. The ring of windows of 2^k rows, k >=
/// 3, contains the blocks that the next step looks back to, and one chunk more, because one thread of a
/// column may be a chunk ahead of another that still reads.
struct RingBlocks {
  int chunk;
  Steps steps;

  __host__ __device__ __forceinline__ int size(int k) const {
    return (k == steps.levels ? steps.rest() / kBlockRows + 1 : 1 << (k - 3)) + chunk;
  }
  __host__ __device__ __forceinline__ int begin(int k) const { return (1 << (k - 3)) - 1 + (k - 3) * chunk; }
  __host__ __device__ __forceinline__ int blocks() const {
    return steps.levels < 3 ? 0 : begin(steps.levels) + size(steps.levels);
  }
};

/// Position of the chunk in each ring, in shared memory. One thread of a block advances it while no other
/// thread reads it.
struct RingPositions {
  int at[13];
};
__device__ __forceinline__ void move_ring(const RingBlocks& rings, RingPositions& positions, int k) {
  if (k < 3 || k > rings.steps.levels) return;
  const int next = positions.at[k] + rings.chunk, size = rings.size(k);
  positions.at[k] = next < size ? next : next - size;
}

/// 8 rows of one column. In shared memory they are parts of 16 bytes, each adjacent to those of the other
/// `width` columns.
template <class W>
struct ColumnBlock {
  static constexpr int kParts = kBlockRows * sizeof(W) / 16, kRowsPerPart = kBlockRows / kParts;
  struct __align__(16) Part {
    W row[kRowsPerPart];
  };
  W row[kBlockRows];

  static __device__ __forceinline__ ColumnBlock load(const Part* column, int block, int width) {
    ColumnBlock loaded;
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      const Part part = column[(block * kParts + p) * width];
#pragma unroll
      for (int i = 0; i < kRowsPerPart; ++i) loaded.row[p * kRowsPerPart + i] = part.row[i];
    }
    return loaded;
  }
  __device__ __forceinline__ void store(Part* column, int block, int width) const {
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      Part part;
#pragma unroll
      for (int i = 0; i < kRowsPerPart; ++i) part.row[i] = row[p * kRowsPerPart + i];
      column[(block * kParts + p) * width] = part;
    }
  }
};

/// The rings as used by one thread: its column, one of `width` adjacent ones, and its block of a chunk.
template <class P>
class ColumnRing {
 public:
  using W = typename P::Word;
  using Block = ColumnBlock<W>;
  using Part = typename Block::Part;

  __device__ __forceinline__ ColumnRing(const RingBlocks& rings, const RingPositions& positions, Part* column,
                                        int width, int chunk_block)
      : rings_(rings), positions_(positions), column_(column), width_(width), chunk_block_(chunk_block) {}

  /// The windows that end with each row of `x`, which follow the 8 rows of `before`. All threads of a block
  /// must call it.
  __device__ __forceinline__ Block windows(const Block& before, const Block& x) const {
    const Steps& steps = rings_.steps;
    Block result = x;
    if (steps.levels == 0) return result;
    W single[15], two[15], four[15];
#pragma unroll
    for (int i = 0; i < 15; ++i) single[i] = i < 7 ? before.row[i < 7 ? i + 1 : 0] : x.row[i < 7 ? 0 : i - 7];
#pragma unroll
    for (int i = 1; i < 15; ++i) two[i] = P::join(single[i - 1], single[i]);
    if (is_piece(1))
      for_each_row([&](int j) { result.row[j] = with_piece(two[6 + j], two[7 + j], result.row[j]); });
    if (steps.levels == 1) return result;
#pragma unroll
    for (int i = 3; i < 15; ++i) four[i] = P::join(two[i - 2], two[i]);
    if (is_piece(2)) {
      const bool by_one = steps.after(2) == 1;
      for_each_row([&](int j) {
        result.row[j] = with_piece(by_one ? four[6 + j] : four[4 + j], four[7 + j], result.row[j]);
      });
    }
    if (steps.levels == 2) return result;
    Block doubled;
    for_each_row([&](int j) { doubled.row[j] = P::join(four[3 + j], four[7 + j]); });
    join_in_rings(doubled, result);
    return result;
  }

 private:
  template <class Act>
  static __device__ __forceinline__ void for_each_row(const Act& action) {
#pragma unroll
    for (int j = 0; j < kBlockRows; ++j) action(j);
  }
  /// Whether a window of 2^k rows is a piece of the result.
  __device__ __forceinline__ bool is_piece(int k) const {
    return k == rings_.steps.levels || (P::kSums && rings_.steps.has(k));
  }
  /// Joins a piece with the result so far; for minima with the largest window, which it overlaps.
  static __device__ __forceinline__ W with_piece(W piece, W window, W result) {
    return P::join(piece, P::kSums ? result : window);
  }
  /// Position in ring k of the block that is `back` blocks before the thread's.
  __device__ __forceinline__ int ring_position(int k, int size, int back) const {
    const int at = positions_.at[k] + chunk_block_ - back;
    return at < 0 ? at + size : at < size ? at : at - size;
  }
  __device__ __forceinline__ Part* ring(int k) const {
    return column_ + rings_.begin(k) * (Block::kParts * width_);
  }

  /// Joins windows of 8 rows and more through the rings.
  __device__ __forceinline__ void join_in_rings(Block& doubled, Block& result) const {
    const int levels = rings_.steps.levels;
    for (int k = 3;; ++k) {
      const int size = rings_.size(k), back = 1 << (k - 3);
      doubled.store(ring(k), ring_position(k, size, 0), width_);
      if (k == levels) break;
      if (back < rings_.chunk) __syncthreads();
      const Block older = Block::load(ring(k), ring_position(k, size, back), width_);
      for_each_row([&](int j) { doubled.row[j] = P::join(older.row[j], doubled.row[j]); });
    }
    __syncthreads();
    for (int k = P::kSums ? 3 : levels; k <= levels; ++k)
      if (is_piece(k)) join_piece(k, doubled, result);
  }
  /// Joins rows that are an odd number of rows before the thread's, from two blocks.
  __device__ __forceinline__ void join_piece(int k, const Block& doubled, Block& result) const {
    const int size = rings_.size(k), after = rings_.steps.after(k), back = after / kBlockRows;
    const Block low = Block::load(ring(k), ring_position(k, size, back + 1), width_);
    const Block high = Block::load(ring(k), ring_position(k, size, back), width_);
    switch (after % kBlockRows) {
      case 1:
        return join_shifted_piece<1>(low, high, doubled, result);
      case 3:
        return join_shifted_piece<3>(low, high, doubled, result);
      case 5:
        return join_shifted_piece<5>(low, high, doubled, result);
      default:
        return join_shifted_piece<7>(low, high, doubled, result);
    }
  }
  template <int kRowsBack>
  __device__ __forceinline__ void join_shifted_piece(const Block& low, const Block& high,
                                                     const Block& doubled, Block& result) const {
    for_each_row([&](int j) {
      const W piece = j < kRowsBack ? low.row[(j - kRowsBack) & 7] : high.row[(j - kRowsBack) & 7];
      result.row[j] = with_piece(piece, doubled.row[j], result.row[j]);
    });
  }

  const RingBlocks& rings_;
  const RingPositions& positions_;
  Part* column_;
  int width_, chunk_block_;
};

}  // namespace sepconv::engine
