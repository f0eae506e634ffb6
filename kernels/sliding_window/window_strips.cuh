// Windows that are small enough for one pass: a warp goes down a strip of columns, 4 rows at a time, which
// stay in its registers but for what windows down columns need again. Private to this folder.
#pragma once

#include "kernels/sliding_window/lane_loads.cuh"
#include "kernels/sliding_window/packed_lanes.cuh"

namespace sepconv::engine {

constexpr int kStripThreads = 128;  ///< at most

/// For one launch. `segment` rows of `out` are a warp's at a time, and of each `useful` elements, in the
/// middle of those that it reads.
struct Strips {
  Steps across, down;
  Rect out;
  int beside, useful;
  std::int64_t segment;

  template <class P>
  __host__ int warp_bytes() const {
    return LaneColumns<P>::rows(down) * LaneColumns<P>::kRowBytes;
  }
};

/// Blocks of a multiprocessor that registers are to be enough for.
template <class P>
constexpr int kStripBlocks = sizeof(typename P::Word) == 8 ? 2
                             : P::kPack == 2               ? 3
                                                           : 4;

template <class P>
__global__ void __launch_bounds__(kStripThreads, kStripBlocks<P>)
    window_strips(const __grid_constant__ P policy, const __grid_constant__ Source<P> in,
                  const __grid_constant__ Target<P> to, const __grid_constant__ Strips strips) {
  constexpr int kElements = kLaneElements<P>;
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Rect& out = strips.out;
  const int channels = in.channels;
  const std::int64_t all = out.cols * channels;
  const std::int64_t begin =
      (static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp) * strips.useful;
  if (begin >= all) return;
  const int place = lane * kElements - strips.beside;
  const std::int64_t element = begin + place;
  const bool writes = place >= 0 && place < strips.useful && element < all;
  LaneColumns<P> columns(strips.down,
                         shared + warp * LaneColumns<P>::rows(strips.down) * LaneColumns<P>::kRowBytes, lane);
  LaneLoads<P> loads(policy, in, (out.col - in.rect.col) * channels + element);
  const int above = strips.down.count - 1;
  for (std::int64_t first = blockIdx.y * strips.segment; first < out.rows;
       first += gridDim.y * strips.segment) {
    const std::int64_t last = min(first + strips.segment, out.rows);
    const int needed = static_cast<int>(last - first) + above;
    const std::int64_t image_row = out.row + first - above / 2;
    columns.begin();
    loads.fetch(image_row, needed);
    for (int at = 0; at < needed; at += kLaneRows) {
      LaneRows<P> rows = loads.rows();
      loads.fetch(image_row + at + kLaneRows, needed - at - kLaneRows);
      rows = columns.windows(windows_across(rows, strips.across, channels));
      if (writes && at + kLaneRows > above)
        put_lane<P>(policy, to, rows, {first + at - above, first, last, element, all});
    }
  }
}

}  // namespace sepconv::engine
