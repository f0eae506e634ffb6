// Windows down columns: 8 rows at a time for each thread, what windows of 8, 16, 32, .. rows it needs again
// in shared memory. Private to this folder.
#pragma once

#include "kernels/sliding_window/window_elements.cuh"

namespace sepconv::engine {

constexpr int kRowsAtOnce = 8;

/// Rings of rows in shared memory, counted in blocks of 8 rows: of windows of 2^k rows, for k from 3 on, as
/// many as the next step looks back, and those of a chunk, since of the threads of a column one may be a
/// chunk ahead of what another still reads.
struct RingBlocks {
  int chunk;
  Steps steps;

  __host__ __device__ __forceinline__ int size(int k) const {
    return (k == steps.levels ? steps.rest() / kRowsAtOnce + 1 : 1 << (k - 3)) + chunk;
  }
  __host__ __device__ __forceinline__ int begin(int k) const { return (1 << (k - 3)) - 1 + (k - 3) * chunk; }
  __host__ __device__ __forceinline__ int blocks() const {
    return steps.levels < 3 ? 0 : begin(steps.levels) + size(steps.levels);
  }
};

/// Where the chunk is in each ring, in shared memory: to be moved by one thread of a block while nobody reads
/// it.
struct RingPositions {
  int at[13];
};
__device__ __forceinline__ void move_ring(const RingBlocks& rings, RingPositions& positions, int k) {
  if (k < 3 || k > rings.steps.levels) return;
  const int next = positions.at[k] + rings.chunk, size = rings.size(k);
  positions.at[k] = next < size ? next : next - size;
}

/// 8 rows of one column, and where they lie in shared memory: parts of 16 bytes, each next to those of the
/// other columns of `width`.
template <class W>
struct ColumnBlock {
  static constexpr int kParts = kRowsAtOnce * sizeof(W) / 16, kOfPart = kRowsAtOnce / kParts;
  struct __align__(16) Part {
    W row[kOfPart];
  };
  W row[kRowsAtOnce];

  static __device__ __forceinline__ ColumnBlock load(const Part* column, int block, int width) {
    ColumnBlock loaded;
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      const Part part = column[(block * kParts + p) * width];
#pragma unroll
      for (int i = 0; i < kOfPart; ++i) loaded.row[p * kOfPart + i] = part.row[i];
    }
    return loaded;
  }
  __device__ __forceinline__ void store(Part* column, int block, int width) const {
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      Part part;
#pragma unroll
      for (int i = 0; i < kOfPart; ++i) part.row[i] = row[p * kOfPart + i];
      column[(block * kParts + p) * width] = part;
    }
  }
};

/// For one thread: its column, of `width` that lie side by side, and which block of a chunk it has.
template <class P>
class ColumnRing {
 public:
  using W = typename P::Word;
  using Block = ColumnBlock<W>;
  using Part = typename Block::Part;

  __device__ __forceinline__ ColumnRing(const RingBlocks& rings, const RingPositions& positions, Part* column,
                                        int width, int own)
      : rings_(rings), positions_(positions), column_(column), width_(width), own_(own) {}

  /// The windows that end with each row of `x`, behind the 8 rows of `before`. All of a block call it.
  __device__ __forceinline__ Block windows(const Block& before, const Block& x) const {
    const Steps& steps = rings_.steps;
    Block made = x;
    if (steps.levels == 0) return made;
    W one[15], two[15], four[15];
#pragma unroll
    for (int i = 0; i < 15; ++i) one[i] = i < 7 ? before.row[i < 7 ? i + 1 : 0] : x.row[i < 7 ? 0 : i - 7];
#pragma unroll
    for (int i = 1; i < 15; ++i) two[i] = P::join(one[i - 1], one[i]);
    if (takes(1)) each([&](int j) { made.row[j] = joined(two[6 + j], two[7 + j], made.row[j]); });
    if (steps.levels == 1) return made;
#pragma unroll
    for (int i = 3; i < 15; ++i) four[i] = P::join(two[i - 2], two[i]);
    if (takes(2)) {
      const bool by_one = steps.after(2) == 1;
      each(
          [&](int j) { made.row[j] = joined(by_one ? four[6 + j] : four[4 + j], four[7 + j], made.row[j]); });
    }
    if (steps.levels == 2) return made;
    Block e;
    each([&](int j) { e.row[j] = P::join(four[3 + j], four[7 + j]); });
    in_rings(e, made);
    return made;
  }

 private:
  template <class Act>
  static __device__ __forceinline__ void each(const Act& act) {
#pragma unroll
    for (int j = 0; j < kRowsAtOnce; ++j) act(j);
  }
  /// Whether a window of 2^k is a piece of the result.
  __device__ __forceinline__ bool takes(int k) const {
    return k == rings_.steps.levels || (P::kSums && rings_.steps.has(k));
  }
  /// The result with such a piece before it: of the smallest the largest two, which overlap.
  static __device__ __forceinline__ W joined(W piece, W own, W made) {
    return P::join(piece, P::kSums ? made : own);
  }
  /// Where in ring k the block is that lies `back` before the thread's.
  __device__ __forceinline__ int place(int k, int size, int back) const {
    const int at = positions_.at[k] + own_ - back;
    return at < 0 ? at + size : at < size ? at : at - size;
  }
  __device__ __forceinline__ Part* ring(int k) const {
    return column_ + rings_.begin(k) * (Block::kParts * width_);
  }

  /// From windows of 8 rows on.
  __device__ __forceinline__ void in_rings(Block& e, Block& made) const {
    const int levels = rings_.steps.levels;
    for (int k = 3;; ++k) {
      const int size = rings_.size(k), back = 1 << (k - 3);
      e.store(ring(k), place(k, size, 0), width_);
      if (k == levels) break;
      if (back < rings_.chunk) __syncthreads();
      const Block older = Block::load(ring(k), place(k, size, back), width_);
      each([&](int j) { e.row[j] = P::join(older.row[j], e.row[j]); });
    }
    __syncthreads();
    for (int k = P::kSums ? 3 : levels; k <= levels; ++k)
      if (takes(k)) take_piece(k, e, made);
  }
  /// Rows that lie an odd number before the thread's, from two blocks.
  __device__ __forceinline__ void take_piece(int k, const Block& e, Block& made) const {
    const int size = rings_.size(k), after = rings_.steps.after(k), back = after / kRowsAtOnce;
    const Block low = Block::load(ring(k), place(k, size, back + 1), width_);
    const Block high = Block::load(ring(k), place(k, size, back), width_);
    switch (after % kRowsAtOnce) {
      case 1:
        return take<1>(low, high, e, made);
      case 3:
        return take<3>(low, high, e, made);
      case 5:
        return take<5>(low, high, e, made);
      default:
        return take<7>(low, high, e, made);
    }
  }
  template <int kBack>
  __device__ __forceinline__ void take(const Block& low, const Block& high, const Block& e,
                                       Block& made) const {
    each([&](int j) {
      const W piece = j < kBack ? low.row[(j - kBack) & 7] : high.row[(j - kBack) & 7];
      made.row[j] = joined(piece, e.row[j], made.row[j]);
    });
  }

  const RingBlocks& rings_;
  const RingPositions& positions_;
  Part* column_;
  int width_, own_;
};

}  // namespace sepconv::engine
