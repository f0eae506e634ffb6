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

/// Columns [col, end) of a row whose first column in the image is, or would be, at `row`: those that the
/// border maps to are there. The rest as above.
template <class E>
void copy_extended(const E* row, std::int64_t col, std::int64_t end, std::int64_t image_cols, BorderMode mode,
                   std::int64_t size, E constant, E* to) {
  const std::int64_t inside = std::clamp<std::int64_t>(0, col, end);
  const std::int64_t inside_end = std::clamp(image_cols, inside, end);
  std::copy_n(row + inside * size, (inside_end - inside) * size, to + (inside - col) * size);
  const auto extend_at = [=](std::int64_t at) {
    const std::int64_t from = border_index(at, image_cols, mode);
    if (from < 0) {
      std::fill_n(to + (at - col) * size, size, constant);
    } else {
      std::copy_n(row + from * size, size, to + (at - col) * size);
    }
  };
  for (std::int64_t at = col; at < inside; ++at) extend_at(at);
  for (std::int64_t at = inside_end; at < end; ++at) extend_at(at);
}

}  // namespace sepconv
