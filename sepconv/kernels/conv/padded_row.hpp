// Rows with their border on both sides; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sepconv/kernels/conv/border.hpp"

namespace sepconv {

/// Columns [first, end) under the taps of a row pass that makes [col, col + cols); [inside_begin, inside_end)
/// of them lie in the image.
struct PaddedColumns {
  std::int64_t first, end;
  std::int64_t inside_begin, inside_end;

  PaddedColumns(std::int64_t col, std::int64_t cols, std::int64_t radius, std::int64_t image_cols)
      : first(col - radius),
        end(col + cols + radius),
        inside_begin(std::max<std::int64_t>(first, 0)),
        inside_end(std::min(end, image_cols)) {}

  std::int64_t before() const noexcept { return inside_begin - first; }
  std::int64_t inside() const noexcept { return inside_end - inside_begin; }
  bool all_inside() const noexcept { return inside() == end - first; }
};

/// Fills a row of these columns, a pixel being `size` elements, left and right of those inside, which are
/// there. `constant` stands for what border_index() calls so.
template <class E>
void extend_row(E* row, const PaddedColumns& columns, std::int64_t image_cols, BorderMode mode,
                std::int64_t size, E constant) {
  const auto extend_at = [=](std::int64_t col) {
    E* const to = row + (col - columns.first) * size;
    const std::int64_t from = border_index(col, image_cols, mode);
    if (from < 0) {
      std::fill_n(to, size, constant);
    } else {
      std::copy_n(row + (from - columns.first) * size, size, to);
    }
  };
  for (std::int64_t col = columns.first; col < columns.inside_begin; ++col) extend_at(col);
  for (std::int64_t col = columns.inside_end; col < columns.end; ++col) extend_at(col);
}

}  // namespace sepconv
