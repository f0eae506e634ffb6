// Disks whose tiles fit a block's shared memory. Private to disk_cuda.cu.
#pragma once

#include "kernels/sliding_window/packed_disk.cuh"

namespace sepconv::disk_kernels {

/// Elements of a row in a tile: all channels interleaved, with windows of `stride`, or one channel, whose
/// elements are `jump` apart.
struct TileLayout {
  int stride, jump;
};

static_assert(Tuning::kTileInputRows >= 2 * Tuning::kTileRows + 2 * (DeviceChords::kMax - 1));
constexpr int kBatch = 4;  ///< loads or joins of a thread in flight

/// Byte offsets in memory of `count` rows of the input from `first_row` on, -1 for a constant border. Only
/// `needed` of them are used; the others repeat the last of these.
template <class P>
__device__ __forceinline__ void find_rows(const Task<P>& task, std::int64_t first_row, int needed, int count,
                                          std::int64_t* rows) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const std::int64_t row = border_index(first_row + min(i, needed - 1), task.image.rows, task.border);
    rows[i] = row < 0 ? -1 : (row - task.in_rect.row) * task.in.pitch_bytes;
  }
}

/// Loads the words of a tile's columns, one column per lane. If fewer columns than lanes are left, a warp
/// loads several rows together.
template <class T, class P>
__device__ __forceinline__ void load_tile(const P& policy, const Task<P>& task, const TileLayout& layout,
                                          std::int64_t first_element, const std::int64_t* rows, int words,
                                          int width, typename P::Word* tile, int pitch) {
  using Word = typename P::Word;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Word constant = policy.encode(task.constant);
  const std::int64_t first_pixel = first_element / layout.stride;
  const int first_channel =
      layout.jump > 1 ? static_cast<int>(blockIdx.z) : static_cast<int>(first_element % layout.stride);
  for (int begin = 0; begin < width; begin += 32) {
    const int log2_cols = width - begin >= 32 ? 5 : 32 - __clz(width - begin - 1);  // its logarithm
    const int x = begin + (lane & ((1 << log2_cols) - 1)), step = kWarps << (5 - log2_cols);
    if (x >= width) continue;
    const int pixel = layout.stride > 1 ? (first_channel + x) / layout.stride : x;
    const std::int64_t col =
        border_index(task.out.col - task.radius_x + first_pixel + pixel, task.image.cols, task.border);
    const int channel = layout.stride > 1 ? first_channel + x - pixel * layout.stride : first_channel;
    const std::byte* const from =
        task.in.data + ((col - task.in_rect.col) * task.channels + channel) * static_cast<int>(sizeof(T));
    const auto load = [&](int i) {
      const std::int64_t row = rows[i];
      return row < 0 || col < 0 ? constant : policy.encode(*reinterpret_cast<const T*>(from + row));
    };
    for (int first = (warp << (5 - log2_cols)) + (lane >> log2_cols); first < words; first += kBatch * step) {
      Word next[kBatch];
#pragma unroll
      for (int j = 0; j < kBatch; ++j) {
        const int i = min(first + j * step, words - 1);
        next[j] = load(i);
        if constexpr (P::kPack > 1) next[j] = P::pack(next[j], load(i + Tuning::kTileRows));
      }
#pragma unroll
      for (int j = 0; j < kBatch; ++j)
        if (first + j * step < words) tile[(first + j * step) * pitch + x] = next[j];
    }
  }
}

/// Doubles the windows in place. One warp processes a row from left to right, so that elements are read
/// before they are replaced.
template <class P>
__device__ __forceinline__ void double_rows(typename P::Word* tile, int pitch, int first, int end, int width,
                                            int distance) {
  const int lane = static_cast<int>(threadIdx.x) % 32, count = width - distance;
  for (int row = first + static_cast<int>(threadIdx.x) / 32; row < end; row += kWarps) {
    typename P::Word* const line = tile + row * pitch;
    for (int begin = 0; begin < count; begin += 32 * kBatch) {
      typename P::Word joined[kBatch];
#pragma unroll
      for (int j = 0; j < kBatch; ++j) {
        const int x = begin + 32 * j + lane;
        if (x < count) joined[j] = P::join(line[x], line[x + distance]);
      }
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kBatch; ++j) {
        const int x = begin + 32 * j + lane;
        if (x < count) line[x] = joined[j];
      }
      __syncwarp();
    }
  }
}

/// Computes the disks of `out`: a block loads a tile with its halo and processes all levels.
template <class P>
__global__ void __launch_bounds__(kThreads)
    tile_disks(const P policy, const __grid_constant__ Task<P> task,
               const __grid_constant__ DeviceChords chords, const TileLayout layout) {
  using Word = typename P::Word;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ std::int64_t rows[Tuning::kTileInputRows];
  Word* const tile = reinterpret_cast<Word*>(shared);
  const int stride = layout.stride, pitch = Tuning::kTileCols + 2 * task.radius_x * stride;
  const std::int64_t first_element = static_cast<std::int64_t>(blockIdx.x) * Tuning::kTileCols;
  const std::int64_t row_elements = task.out.cols * stride;  // elements of a row, or of a channel of it
  const int count = static_cast<int>(min(row_elements - first_element, std::int64_t{Tuning::kTileCols}));
  const int width = count + 2 * task.radius_x * stride, words = Tuning::kTileRows + 2 * task.radius_y;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x = warp % kWarpsAcross * 32 + lane, y = warp / kWarpsAcross * kRows;
  constexpr int kBlockRows = P::kPack * Tuning::kTileRows;
  for (std::int64_t begin = std::int64_t{blockIdx.y} * kBlockRows; begin < task.out.rows;
       begin += std::int64_t{gridDim.y} * kBlockRows) {
    const int result_rows = static_cast<int>(min(task.out.rows - begin, std::int64_t{kBlockRows}));
    const int needed = result_rows + 2 * task.radius_y;
    find_rows(task, task.out.row + begin - task.radius_y, needed, words + kBlockRows - Tuning::kTileRows,
              rows);
    __syncthreads();
    device::visit(task.in.type, [&]<class T>(T) {
      load_tile<T>(policy, task, layout, first_element, rows, words, width, tile, pitch);
    });
    __syncthreads();
    Word minimum[kRows];
#pragma unroll
    for (int j = 0; j < kRows; ++j) minimum[j] = P::identity();
    for (int level = 0;; ++level) {
      join_chords(task, chords, level, task.first_chord(level), task.reach[level],
                  tile + (task.radius_y + y) * pitch + x, pitch, stride, minimum);
      if (level == task.levels) break;
      __syncthreads();
      const int reach = task.reach[level + 1];
      double_rows<P>(tile, pitch, task.radius_y - reach, task.radius_y + Tuning::kTileRows + reach, width,
                     stride << level);
      __syncthreads();
    }
    if (x < count)
      store_words(policy, task, minimum,
                  {begin + y, (first_element + x) * layout.jump + (layout.jump > 1 ? blockIdx.z : 0),
                   result_rows - y},
                  Tuning::kTileRows);
    __syncthreads();
  }
}

}  // namespace sepconv::disk_kernels
