// Windows of any radius in two passes: along rows in shared memory, and down columns. Private to this folder.
#pragma once

#include "kernels/sliding_window/row_loads.cuh"
#include "kernels/sliding_window/window_results.cuh"

namespace sepconv::engine {

constexpr int kMaxRowThreads = 256;
constexpr int kPerThread = 4;  ///< groups of a row per thread

/// A launch along the rows of `out`: a block computes `segment` elements of a row, row by row.
struct RowPass {
  Steps steps;
  RowLayout layout;
  Rect out;
  int segment;

  template <class P>
  __host__ __device__ int groups() const {
    return row_groups<P>(segment + (steps.count - 1) * layout.stride);
  }
};

template <class P>
__global__ void __launch_bounds__(kMaxRowThreads, sizeof(typename P::Word) == 8 ? 2 : 3)
    window_rows(const __grid_constant__ P policy, const __grid_constant__ Source<P> in,
                const __grid_constant__ Target<P> to, const __grid_constant__ RowPass pass) {
  using G = Group<P>;
  using E = typename P::Element;
  extern __shared__ __align__(16) unsigned char shared[];
  RowLayout layout = pass.layout;
  layout.channel = static_cast<int>(blockIdx.z);
  G* const row = reinterpret_cast<G*>(shared);
  G* const spare = row + pass.groups<P>();
  const Rect& out = pass.out;
  const std::int64_t row_elements = out.cols * layout.stride;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * pass.segment;
  const int outputs = static_cast<int>(min(row_elements - begin, static_cast<std::int64_t>(pass.segment)));
  const int halo = (pass.steps.count - 1) * layout.stride;
  const BlockThreads thread_group{static_cast<int>(threadIdx.x)};
  RowLoads<P, kPerThread, BlockThreads> loads(policy, in, layout, thread_group,
                                              (out.col - in.rect.col) * layout.stride + begin - halo / 2,
                                              outputs + halo);
  for (std::int64_t r = blockIdx.y; r < out.rows; r += gridDim.y) {
    loads.begin_row(out.row + r);
    for (int first = 0; first < loads.vectors(); first += kPerThread * thread_group.size()) {
      loads.fetch(first);
      loads.store(first, reinterpret_cast<E*>(row));
    }
    thread_group.synchronize();
    windows_of_row<P, kPerThread>(
        thread_group, row, spare, loads.shift(), outputs, layout.stride, pass.steps,
        [&](int g, const G& windows, G* free_buffer) {
          if (to.plane.data != nullptr && layout.jump == 1)
            *reinterpret_cast<G*>(to.plane.data + r * to.plane.pitch + begin + g * G::kElements) = windows;
          else
            free_buffer[g] = windows;
        });
    thread_group.synchronize();
    if (to.plane.data != nullptr && layout.jump == 1) continue;
    const E* const elements = reinterpret_cast<const E*>(swaps_of_row<P>(pass.steps) % 2 == 0 ? spare : row);
    for (int i = thread_group.thread; i < outputs; i += thread_group.size()) {
      const std::int64_t element = (begin + i) * layout.jump + (layout.jump > 1 ? layout.channel : 0);
      if (to.plane.data != nullptr)
        to.plane.data[r * to.plane.pitch + element] = elements[i];
      else
        to.store(r, element, policy.value(elements[i]));
    }
    thread_group.synchronize();
  }
}

/// A launch down the columns of `out`: a block processes `width` adjacent words and a chunk of as many blocks
/// of 8 rows as it has threads for; it computes `segment` rows at a time.
struct ColumnPass {
  Steps steps;
  Rect out;
  int width, chunk;
  std::int64_t segment;

  __host__ __device__ RingBlocks rings() const { return {chunk, steps}; }
  /// Blocks of shared memory: the chunk with the block before it, then the rings.
  __host__ __device__ int blocks() const { return chunk + 1 + rings().blocks(); }
};

constexpr int kMaxColumnThreads = 256;

/// Loads rows of the column of words that begins with `element`, counted from the first pixel of the source's
/// rectangle.
template <class P>
class ColumnLoads {
 public:
  using W = typename P::Word;
  using Block = ColumnBlock<W>;

  __device__ __forceinline__ ColumnLoads(const P& policy, const Source<P>& in, std::int64_t element)
      : policy_(policy), in_(in), element_(element), constant_(in.constant_of(policy)) {
    if constexpr (P::kPack == 2) constant_ *= 0x10001u;
  }

  /// Loads the first `count` of 8 rows of the image or its border, from `row` on.
  __device__ __forceinline__ void fetch(std::int64_t row, int count, Block& x) const {
    if (in_.plane.data != nullptr) {
      rows(row, count, x, [&](std::int64_t at) {
        return *reinterpret_cast<const W*>(in_.plane.data + at * in_.plane.pitch + element_);
      });
    } else {
      visit_source<P>(in_.pixels.type, [&]<class T>(T) {
        rows(row, count, x, [&](std::int64_t at) { return word_of(in_.pixels.template row<const T>(at)); });
      });
    }
  }

 private:
  template <class Load>
  __device__ __forceinline__ void rows(std::int64_t row, int count, Block& x, const Load& load) const {
    if (count >= kBlockRows && row >= 0 && row + kBlockRows <= in_.image.rows) {
#pragma unroll
      for (int j = 0; j < kBlockRows; ++j) x.row[j] = load(row - in_.rect.row + j);
      return;
    }
#pragma unroll
    for (int j = 0; j < kBlockRows; ++j) {
      if (j >= count) break;
      const std::int64_t at = near_border_index(row + j, in_.image.rows, in_.border);
      x.row[j] = at < 0 ? constant_ : load(at - in_.rect.row);
    }
  }
  template <class T>
  __device__ __forceinline__ W word_of(const T* row) const {
    if constexpr (P::kPack == 2) {
      const unsigned low = policy_.encode(row[element_]);
      const bool has_high = element_ + 1 < in_.rect.cols * in_.channels;
      return low | (has_high ? static_cast<unsigned>(policy_.encode(row[element_ + 1])) << 16 : 0u);
    } else {
      return policy_.encode(row[element_]);
    }
  }

  const P& policy_;
  const Source<P>& in_;
  std::int64_t element_;
  W constant_;
};

template <class P>
__global__ void __launch_bounds__(kMaxColumnThreads, sizeof(typename P::Word) == 8 ? 1 : 2)
    window_columns(const __grid_constant__ P policy, const __grid_constant__ Source<P> in,
                   const __grid_constant__ Target<P> to, const __grid_constant__ ColumnPass pass) {
  using W = typename P::Word;
  using Block = ColumnBlock<W>;
  using Part = typename Block::Part;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ RingPositions positions;
  const int thread = static_cast<int>(threadIdx.x), width = pass.width, chunk = pass.chunk;
  const int chunk_block = thread / width, first_of_chunk = chunk_block * kBlockRows;
  const Rect& out = pass.out;
  const std::int64_t row_elements = out.cols * in.channels;
  const std::int64_t element = (static_cast<std::int64_t>(blockIdx.x) * width + thread % width) * P::kPack;
  Part* const column = reinterpret_cast<Part*>(shared) + thread % width;
  const RingBlocks rings = pass.rings();
  const ColumnRing<P> ring(rings, positions, column + (chunk + 1) * (Block::kParts * width), width,
                           chunk_block);
  const ColumnLoads<P> loads(policy, in, element + (out.col - in.rect.col) * in.channels);
  const bool has_column = element < row_elements;
  const int above = pass.steps.count - 1;
  for (std::int64_t first = blockIdx.y * pass.segment; first < out.rows; first += gridDim.y * pass.segment) {
    const std::int64_t last = min(first + pass.segment, out.rows);
    const int needed = static_cast<int>(last - first) + above;
    const std::int64_t image_row = out.row + first - above / 2;
    if (thread < 13) positions.at[thread] = 0;
    if (chunk_block == 0) Block{}.store(column, 0, width);
    Block next{};
    if (has_column) loads.fetch(image_row + first_of_chunk, needed - first_of_chunk, next);
    for (int at = 0; at < needed; at += chunk * kBlockRows) {
      const Block x = next;
      x.store(column, chunk_block + 1, width);
      __syncthreads();
      const Block before = Block::load(column, chunk_block, width);
      const int next_row = at + chunk * kBlockRows + first_of_chunk;
      if (has_column) loads.fetch(image_row + next_row, needed - next_row, next);
      const Block windows = ring.windows(before, x);
      if (has_column && at + first_of_chunk + kBlockRows > above)
        store_column<P>(policy, to, windows.row,
                        {first + at + first_of_chunk - above, first, last, element, row_elements});
      __syncthreads();
      // The last rows of this chunk precede the next chunk.
      if (chunk_block == chunk - 1) x.store(column, 0, width);
      move_ring(rings, positions, thread);
    }
    __syncthreads();
  }
}

}  // namespace sepconv::engine
