// Windows that are small enough for one pass: a warp moves down a strip of columns, 4 rows at a time, in
// registers; only rows that windows down columns need again are buffered. Private to this folder.
#pragma once

#include "kernels/sliding_window/lane_loads.cuh"
#include "kernels/sliding_window/packed_lanes.cuh"

namespace sepconv::engine {

constexpr int kStripThreads = 128;  ///< maximum

/// Arguments of one launch. A warp computes `segment` rows of `out` at a time, and of each row
/// `output_elements` elements, in the middle of those that it reads.
struct Strips {
  Steps across, down;
  Rect out;
  int halo, output_elements;
  std::int64_t segment;

  template <class P>
  __host__ int warp_bytes() const {
    return LaneColumns<P>::rows(down) * LaneColumns<P>::kRowBytes;
  }
};

/// Minimum number of resident blocks per multiprocessor that registers must suffice for.
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
  const std::int64_t row_elements = out.cols * channels;
  const std::int64_t begin =
      (static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + warp) * strips.output_elements;
  if (begin >= row_elements) return;
  const int lane_offset = lane * kElements - strips.halo;
  const std::int64_t element = begin + lane_offset;
  const bool writes = lane_offset >= 0 && lane_offset < strips.output_elements && element < row_elements;
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
        store_lane<P>(policy, to, rows, {first + at - above, first, last, element, row_elements});
    }
  }
}

}  // namespace sepconv::engine
