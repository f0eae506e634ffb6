// Scratch sizes of resampling on the host, and its weight tables. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/worker.hpp"
#include "kernels/resample/resample_check.hpp"

namespace sepconv {

inline constexpr std::int64_t kGroupRows =
    16;  ///< rows of a row pass: one vector of the widest target, several of others
inline constexpr std::int64_t kAddedRows = 8;  ///< rows that a column pass adds together
/// Elements of a window's rows that a column pass processes together; they stay in a cache for the next
/// window.
inline constexpr std::int64_t kColumnBlock = 256;

/// Scratch sizes of one region, in elements of the arithmetic type.
struct ResampleSizes {
  ResampleSizes(const Resampling& resampling, Extent out, std::int64_t in_cols, std::int64_t channels,
                std::int64_t element_bytes)
      : in_pitch(aligned_pitch_bytes(in_cols * channels * element_bytes) / element_bytes),
        out_pitch(aligned_pitch_bytes(out.cols * channels * element_bytes) / element_bytes),
        ring_rows(resampling.columns_first
                      ? kGroupRows
                      : round_up(resample_max_taps(resampling.down) + kGroupRows - 1, kGroupRows)),
        line_elements(resampling.columns_first ? kAddedRows * kColumnBlock : out_pitch),
        row_weights(out.rows * resample_max_taps(resampling.down)),
        col_weights(out.cols * resample_max_taps(resampling.across)),
        raw_weights(std::max(resample_max_taps(resampling.down), resample_max_taps(resampling.across))) {}

  std::int64_t in_pitch, out_pitch, ring_rows, line_elements, row_weights, col_weights, raw_weights;
};

/// The windows of `count` adjacent pixels from `begin` on, and their weights, `taps` apart.
template <class A>
struct ResampleTable {
  ResampleTable(const ResampleAxis& axis, std::int64_t begin, std::int64_t count, double* raw_weights_buffer,
                Worker& worker)
      : taps(resample_max_taps(axis)),
        windows(worker.allocate<ResampleWindow>(count)),
        weights(worker.allocate<A>(count * taps)) {
    for (std::int64_t i = 0; i < count; ++i) {
      windows[i] = resample_window(axis, begin + i);
      double sum = 0;
      for (std::int64_t k = 0; k < windows[i].count; ++k)
        sum += raw_weights_buffer[k] = resample_weight(axis, begin + i, windows[i].first + k);
      for (std::int64_t k = 0; k < windows[i].count; ++k)
        weights[i * taps + k] = static_cast<A>(raw_weights_buffer[k] / sum);
    }
  }

  std::int64_t taps;
  ResampleWindow* windows;
  A* weights;
};

}  // namespace sepconv
