// Rows with their border on both sides; private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/conv/border.hpp"

namespace sepconv {

/// Columns [first, end) under the taps of a row pass with output columns [col, col + cols). The columns
/// [inside_begin, inside_end) are in the image.
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

/// The sources of columns [col, col + count) beyond an edge: columns from, from + step, ... of the image, or
/// the constant if `from` is negative.
struct BorderRun {
  std::int64_t from, step, count;
};
/// The longest run from `col` on, up to `end`.
inline BorderRun border_run(std::int64_t col, std::int64_t end, std::int64_t image_cols, BorderMode mode) {
  const std::int64_t from = border_index(col, image_cols, mode);
  if (mode == BorderMode::constant || mode == BorderMode::replicate) return {from, 0, end - col};
  const std::int64_t step = border_index(col + 1, image_cols, mode) - from;
  const std::int64_t remaining = step == 1 ? image_cols - from : step == -1 ? from + 1 : 1;
  return {from, step, std::min(remaining, end - col)};
}

/// Fills the columns of a row left and right of the image; those inside already contain pixels. A pixel has
/// `size` elements. `constant` is the value where border_index() returns -1.
template <class E>
void extend_row(E* row, const PaddedColumns& columns, std::int64_t image_cols, BorderMode mode,
                std::int64_t size, E constant) {
  const auto extend = [=](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const BorderRun run = border_run(begin, end, image_cols, mode);
      E* const to = row + (begin - columns.first) * size;
      const E* const from = row + (run.from - columns.first) * size;
      begin += run.count;
      if (run.from < 0) {
        std::fill_n(to, run.count * size, constant);
      } else if (run.step == 1) {
        std::copy_n(from, run.count * size, to);
      } else if (size == 1) {
        for (std::int64_t i = 0; i < run.count; ++i) to[i] = from[i * run.step];
      } else {
        for (std::int64_t i = 0; i < run.count; ++i)
          std::copy_n(from + i * run.step * size, size, to + i * size);
      }
    }
  };
  extend(columns.first, columns.inside_begin);
  extend(columns.inside_end, columns.end);
}

/// Copies columns [col, end) of a row, extended by the border, to `to`. `row` points to where column 0 is or
/// would be; the columns that the border maps to must exist. `size` and `constant` as in extend_row.
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
