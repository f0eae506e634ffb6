// The cells of a measurement: fixed rectangles whose partial results are combined in a fixed order, so that
// sums of floating values have the same bits for any bands, threads and memory. Internal to pipeline/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/executor.hpp"
#include "core/image.hpp"

namespace sepconv {

/// A cell large enough that its bookkeeping costs nothing and small enough that a band has several for the
/// threads.
inline constexpr std::int64_t kCellElements = 65536;

/// Whole blocks of `block` (clipped to the image), first side by side and then one below the other, up to
/// about kCellElements. Depends on the image and the block only, never on a plan.
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

/// Calls visit(index, cell rectangle) for the cells of `rect`, row-major. `rect` starts at a cell and ends at
/// one or at the image's edge.
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
/// hands bands from top to bottom in each column of bands, so every sum receives its cells from top to bottom
/// whatever the bands are.
template <class Checkpoint>
class CellSums {
 public:
  CellSums(const ImageSpec& spec, Extent cell, const Checkpoint& zero)
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

  /// Memory held, when a Partial owns `owned_bytes` more than itself. Partials of a band's cells below its
  /// first row of cells are left out: they are less than a thousandth of the band.
  std::int64_t bytes(std::int64_t owned_bytes) const {
    const auto each = static_cast<std::int64_t>(sizeof(Checkpoint) + sizeof(Rect)) + owned_bytes;
    return 2 * std::ssize(columns_) * each;
  }

  Checkpoint total() const {
    Checkpoint sum = zero_;
    for (const Checkpoint& column : columns_) sum.add(column);
    return sum;
  }

 private:
  Extent cell_;
  Checkpoint zero_;
  std::vector<Checkpoint> columns_;
  std::vector<Rect> rects_;
  std::vector<Checkpoint> partials_;
};

}  // namespace sepconv
