// Disks too large for a block's shared memory: planes in device memory contain the windows of 1, 2, 4, ...
// pixels, one level after another, and the minima of the chords so far. Private to disk_cuda.cu.
#pragma once

#include "kernels/sliding_window/packed_disk.cuh"

namespace sepconv::disk_kernels {

/// A plane of words; `pitch` in words.
template <class Word>
struct Plane {
  Word* data = nullptr;
  std::int64_t pitch = 0;
  __device__ __forceinline__ Word& at(std::int64_t row, std::int64_t col) const {
    return data[row * pitch + col];
  }
};

/// A part of the result of one channel, `words` words high.
struct Part {
  Rect rect;  ///< of the result's pixels
  std::int64_t words;
  int channel;
};

/// Calls action(row, col) for all words of this extent, one thread per word.
template <class Action>
__device__ __forceinline__ void for_each_word(std::int64_t rows, std::int64_t cols, const Action& action) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (col >= cols) return;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) action(row, col);
}

/// Loads the pixels of a part and its halo, with the border.
template <class P>
__global__ void __launch_bounds__(kThreads) load_words(const P policy, const __grid_constant__ Task<P> task,
                                                       const Part part, const Plane<typename P::Word> to) {
  const std::int64_t first_row = task.out.row + part.rect.row - task.radius_y;
  const std::int64_t first_col = task.out.col + part.rect.col - task.radius_x;
  const std::int64_t rows = part.rect.rows + 2 * std::int64_t{task.radius_y};
  device::visit(task.in.type, [&]<class T>(T) {
    for_each_word(
        part.words + 2 * task.radius_y, part.rect.cols + 2 * task.radius_x,
        [&](std::int64_t row, std::int64_t col) {
          const std::int64_t x = border_index(first_col + col, task.image.cols, task.border);
          const std::int64_t at = (x - task.in_rect.col) * task.channels + part.channel;
          const auto load = [&](std::int64_t i) {
            const std::int64_t y = border_index(first_row + min(i, rows - 1), task.image.rows, task.border);
            return x < 0 || y < 0 ? policy.encode(task.constant)
                                  : policy.encode(task.in.template row<const T>(y - task.in_rect.row)[at]);
          };
          typename P::Word word = load(row);
          if constexpr (P::kPack > 1) word = P::pack(word, load(row + part.words));
          to.at(row, col) = word;
        });
  });
}

/// Doubles the windows' pixels.
template <class P>
__global__ void __launch_bounds__(kThreads)
    double_plane(const Plane<typename P::Word> from, const Plane<typename P::Word> to, std::int64_t first,
                 std::int64_t rows, std::int64_t cols, std::int64_t distance) {
  for_each_word(rows, cols, [&](std::int64_t row, std::int64_t col) {
    to.at(first + row, col) = P::join(from.at(first + row, col), from.at(first + row, col + distance));
  });
}

/// Joins a part's results with the windows of chords `from` to `last`, all of one level. `is_first`: these
/// are the first.
template <class P>
__global__ void __launch_bounds__(kThreads)
    join_plane(const __grid_constant__ Task<P> task, const __grid_constant__ DeviceChords chords,
               const Part part, int level, int last, bool is_first, const Plane<typename P::Word> windows,
               const Plane<typename P::Word> results) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t col =
      static_cast<std::int64_t>(blockIdx.x) * Tuning::kTileCols + warp % kWarpsAcross * 32 + lane;
  if (col >= part.rect.cols) return;
  const std::int64_t step = std::int64_t{gridDim.y} * Tuning::kTileRows;
  for (std::int64_t row = std::int64_t{blockIdx.y} * Tuning::kTileRows + warp / kWarpsAcross * kRows;
       row < part.words; row += step) {
    typename P::Word minimum[kRows];
#pragma unroll
    for (int j = 0; j < kRows; ++j) minimum[j] = is_first ? P::identity() : results.at(row + j, col);
    join_chords(task, chords, level, chords.from, last, &windows.at(row + task.radius_y, col), windows.pitch,
                1, minimum);
#pragma unroll
    for (int j = 0; j < kRows; ++j) results.at(row + j, col) = minimum[j];
  }
}

/// Stores a part's results.
template <class P>
__global__ void __launch_bounds__(kThreads)
    store_plane(const P policy, const __grid_constant__ Task<P> task, const Part part,
                const Plane<typename P::Word> results) {
  for_each_word(part.words / kRows, part.rect.cols, [&](std::int64_t i, std::int64_t col) {
    const std::int64_t row = i * kRows;
    typename P::Word minimum[kRows];
#pragma unroll
    for (int j = 0; j < kRows; ++j) minimum[j] = results.at(row + j, col);
    store_words(
        policy, task, minimum,
        {part.rect.row + row, (part.rect.col + col) * task.channels + part.channel, part.rect.rows - row},
        part.words);
  });
}

}  // namespace sepconv::disk_kernels
