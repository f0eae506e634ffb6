// Prefetching of pixels while those before them are processed; private to this folder.
#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/image.hpp"

namespace sepconv {

/// Prefetches an image that is read in pieces of rows, from left to right and down. A piece is fetched in
/// quarters between the steps of another piece, because a processor stalls on too many outstanding loads.
class RowPrefetcher {
 public:
  RowPrefetcher() = default;
  /// `read`: the rectangle that is read, within the image's rectangle.
  explicit RowPrefetcher(const Rect& read) : first_(read.col), end_(read.col_end()) {}

  /// Call when a piece that ends at `col` of `row` is being processed: schedules the next piece but one.
  void schedule_after(const ConstRegion& in, std::int64_t row, std::int64_t col, std::int64_t cols) {
    col += cols;
    if (col >= end_) ++row, col = std::min(first_ + col - end_, end_);
    if (row >= in.rect.row_end()) return;
    const std::int64_t bytes = in.pixels.pixel_bytes();
    at_ = in.pixels.row_data(row - in.rect.row) + (col - in.rect.col) * bytes;
    remaining_bytes_ = std::min(cols, end_ - col) * bytes;
    quarter_bytes_ = std::max(remaining_bytes_ / 4, kLine);
  }

  /// Leaves the scheduled piece to the caller, who fetches it a cache line at a time. Returns where it
  /// begins, or `fallback` if nothing is scheduled.
  const std::byte* release(const std::byte* fallback) {
    return std::exchange(remaining_bytes_, 0) > 0 ? at_ : fallback;
  }

  void fetch() {
    for (std::int64_t i = 0; i < quarter_bytes_ && remaining_bytes_ > 0;
         i += kLine, at_ += kLine, remaining_bytes_ -= kLine)
      hwy::Prefetch(at_);
  }

 private:
  static constexpr std::int64_t kLine = 64;  ///< bytes of a cache line

  std::int64_t first_ = 0, end_ = 0;
  const std::byte* at_ = nullptr;
  std::int64_t remaining_bytes_ = 0, quarter_bytes_ = 0;  ///< bytes
};

}  // namespace sepconv
