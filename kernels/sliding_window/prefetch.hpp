// Pixels that are asked for while those before them are worked on; private to this folder.
#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/image.hpp"

namespace sepconv {

/// What is read of an image in pieces of rows, from left to right and down. A piece is fetched in quarters,
/// between the steps of another: of more at once a processor keeps track only by waiting.
class ReadAhead {
 public:
  ReadAhead() = default;
  /// For these columns, all of them of the image's rectangle.
  explicit ReadAhead(const Rect& read) : first_(read.col), end_(read.col_end()) {}

  /// A piece that ends at `col` of `row` is being worked on: the next but one is what will be fetched.
  void behind(const ConstRegion& in, std::int64_t row, std::int64_t col, std::int64_t cols) {
    col += cols;
    if (col >= end_) ++row, col = std::min(first_ + col - end_, end_);
    if (row >= in.rect.row_end()) return;
    const std::int64_t bytes = in.pixels.pixel_bytes();
    at_ = in.pixels.row_data(row - in.rect.row) + (col - in.rect.col) * bytes;
    left_ = std::min(cols, end_ - col) * bytes;
    quarter_ = std::max(left_ / 4, kLine);
  }

  /// The same, a line at a time by somebody else, who comes by as often as the piece has lines: where it
  /// begins; elsewhere if there is none.
  const std::byte* hand_over(const std::byte* elsewhere) {
    return std::exchange(left_, 0) > 0 ? at_ : elsewhere;
  }

  void fetch() {
    for (std::int64_t i = 0; i < quarter_ && left_ > 0; i += kLine, at_ += kLine, left_ -= kLine)
      hwy::Prefetch(at_);
  }

 private:
  static constexpr std::int64_t kLine = 64;  ///< bytes of the caches

  std::int64_t first_ = 0, end_ = 0;
  const std::byte* at_ = nullptr;
  std::int64_t left_ = 0, quarter_ = 0;  ///< bytes
};

}  // namespace sepconv
