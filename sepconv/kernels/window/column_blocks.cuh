// Least values down columns on a device, of windows that are higher than shared memory has room for: by van
// Herk's and Gil and Werman's blocks of as many rows as the window has. Private to this folder.
#pragma once

#include "sepconv/kernels/window/window_elements.cuh"

namespace sepconv::engine {

constexpr int kBlockThreads = 128;
constexpr int kBlockAhead = 8;  ///< rows that a thread fetches before it uses them

/// A window is the end of the block that it begins in and the beginning of the next. A thread has one element
/// of each row, and of a block first makes the ends, from the last row up, in `ends`, which has a row for
/// each of `out`; then it goes on downwards through the next block.
template <class P>
__global__ void __launch_bounds__(kBlockThreads)
    window_column_blocks(const P policy, const __grid_constant__ Source<P> in,
                         const __grid_constant__ Target<P> to, const Plane<typename P::Element> ends,
                         std::int64_t neighbours, const Rect out) {
  using E = typename P::Element;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
  if (element >= out.cols * in.channels) return;
  const E constant = policy.of(in.constant);
  const std::int64_t source = element + (out.col - in.rect.col) * in.channels;
  const std::int64_t first_row = out.row - neighbours / 2;
  with_loads(policy, in, [&](const auto& load) {
    // Row i of those that `out` needs.
    const auto at = [&](std::int64_t i) {
      const std::int64_t row = border_index(first_row + i, in.image.rows, in.border);
      return row < 0 ? constant : load(row - in.rect.row, source);
    };
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * neighbours;
    for (std::int64_t begin = blockIdx.y * neighbours; begin < out.rows; begin += step) {
      const std::int64_t end = min(begin + neighbours, out.rows);  // of the windows that begin here
      E least = at(begin + neighbours - 1);
      if (begin + neighbours <= out.rows) ends.data[(begin + neighbours - 1) * ends.pitch + element] = least;
      for (std::int64_t i = begin + neighbours - 2; i >= begin; i -= kBlockAhead) {
        E next[kBlockAhead];
#pragma unroll
        for (int j = 0; j < kBlockAhead; ++j) next[j] = at(max(i - j, begin));
#pragma unroll
        for (int j = 0; j < kBlockAhead; ++j) {
          if (i - j < begin) break;
          least = P::join(least, next[j]);
          if (i - j < end) ends.data[(i - j) * ends.pitch + element] = least;
        }
      }
      to.put(policy, begin, element, least);
      for (std::int64_t i = begin + 1; i < end; i += kBlockAhead) {
        E next[kBlockAhead], ending[kBlockAhead];
#pragma unroll
        for (int j = 0; j < kBlockAhead; ++j) {
          const std::int64_t row = min(i + j, end - 1);
          next[j] = at(row + neighbours - 1);
          ending[j] = ends.data[row * ends.pitch + element];
        }
#pragma unroll
        for (int j = 0; j < kBlockAhead; ++j) {
          if (i + j >= end) break;
          least = i + j == begin + 1 ? next[j] : P::join(least, next[j]);
          to.put(policy, i + j, element, P::join(least, ending[j]));
        }
      }
    }
  });
}

}  // namespace sepconv::engine
