// Cells of a measurement: fixed rectangles whose partial results are summed in a fixed order. Floating sums
// are bit-identical for all bands, threads and memory limits. Internal to pipeline/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/executor.hpp"
#include "core/image.hpp"

namespace sepconv {

/// Large enough that a cell's overhead is negligible, small enough that a band has several cells for the
/// threads.
inline constexpr std::int64_t kCellElements = 65536;

/// Whole `block`s (clipped to the image), first side by side, then below each other, up to about
/// kCellElements elements. Depends only on the image and the block.
inline Extent cell_extent(const ImageSpec& spec, Extent block) {
  Extent cell{std::min(block.rows, spec.extent.rows), std::min(block.cols, spec.extent.cols)};
  const auto grow = [&](std::int64_t& side, std::int64_t limit) {
    const std::int64_t elements = cell.area() * spec.channels;
    side *= std::clamp<std::int64_t>(kCellElements / elements, 1, ceil_div(limit, side));
  };
  grow(cell.cols, spec.extent.cols);
  if (cell.cols >= spec.extent.cols) grow(cell.rows, spec.extent.rows);
  return cell;
}

/// Calls visit(index, cell rectangle) for the cells of `rect`, row-major. `rect` begins at a cell and ends at
/// a cell's end or at the image's edge.
template <class Visit>
void for_each_cell(const Rect& rect, Extent cell, Visit&& visit) {
  std::int64_t index = 0;
  for (std::int64_t row = rect.row; row < rect.row_end(); row += cell.rows) {
    for (std::int64_t col = rect.col; col < rect.col_end(); col += cell.cols) {
      visit(index++, Rect{row, col, cell.rows, cell.cols}.intersect(rect));
    }
  }
}

/// Partial results of type Partial (with `void add(const Partial&)`), one sum per column of cells. run()
/// delivers the bands of each column of bands from top to bottom, so every sum receives its cells from top to
/// bottom for any bands.
template <class Partial>
class CellSums {
 public:
  CellSums(const ImageSpec& spec, Extent cell, const Partial& zero)
      : cell_(cell),
        zero_(zero),
        columns_(static_cast<std::size_t>(ceil_div(spec.extent.cols, cell.cols)), zero) {}

  /// Computes measure(cell rectangle, partial) for the cells of `rect` in parallel, then adds them in order.
  template <class Measure>
  void add(const Rect& rect, Executor& executor, Measure&& measure) {
    rects_.clear();
    for_each_cell(rect, cell_, [&](std::int64_t, const Rect& cell) { rects_.push_back(cell); });
    partials_.assign(rects_.size(), zero_);
    executor.for_each(static_cast<std::int64_t>(rects_.size()), [&](std::int64_t index, int) {
      measure(rects_[static_cast<std::size_t>(index)], partials_[static_cast<std::size_t>(index)]);
    });
    for (std::size_t i = 0; i < rects_.size(); ++i) {
      columns_[static_cast<std::size_t>(rects_[i].col / cell_.cols)].add(partials_[i]);
    }
  }

  /// Memory in bytes if a Partial owns `owned_bytes` outside itself. The partials of a band's cells after its
  /// first row of cells are not counted: they are less than a thousandth of the band.
  std::int64_t bytes(std::int64_t owned_bytes) const {
    const auto partial_bytes = static_cast<std::int64_t>(sizeof(Partial) + sizeof(Rect)) + owned_bytes;
    return 2 * std::ssize(columns_) * partial_bytes;
  }

  Partial total() const {
    Partial sum = zero_;
    for (const Partial& column : columns_) sum.add(column);
    return sum;
  }

 private:
  Extent cell_;
  Partial zero_;
  std::vector<Partial> columns_;
  std::vector<Rect> rects_;
  std::vector<Partial> partials_;
};

}  // namespace sepconv
