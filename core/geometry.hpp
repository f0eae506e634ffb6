// Integer geometry of images: extents and rectangles, 64-bit everywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace sepconv {

/// Size of an image or of a part of one, in pixels (not elements or bytes).
struct Extent {
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  /// Number of pixels. Both sides are bounded by kMaxSide, so the product fits.
  std::int64_t area() const noexcept { return rows * cols; }
  bool empty() const noexcept { return rows <= 0 || cols <= 0; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Largest number of rows or columns that sepconv accepts: a TIFF's limit, and small enough for every product
/// in 64 bits.
inline constexpr std::int64_t kMaxSide = (std::int64_t{1} << 31) - 1;

/// Half-open rectangle of pixels: rows [row, row + rows), columns [col, col + cols).
struct Rect {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  static Rect whole(Extent extent) noexcept { return {0, 0, extent.rows, extent.cols}; }

  std::int64_t row_end() const noexcept { return row + rows; }
  std::int64_t col_end() const noexcept { return col + cols; }
  Extent extent() const noexcept { return {rows, cols}; }
  std::int64_t area() const noexcept { return rows * cols; }
  bool empty() const noexcept { return rows <= 0 || cols <= 0; }

  bool contains(const Rect& other) const noexcept {
    return other.empty() || (row <= other.row && col <= other.col && other.row_end() <= row_end() &&
                             other.col_end() <= col_end());
  }

  /// The pixels in both rectangles; an empty rectangle (rows or cols 0) if there are none.
  Rect intersect(const Rect& other) const noexcept {
    const std::int64_t top = std::max(row, other.row);
    const std::int64_t left = std::max(col, other.col);
    return {top, left, std::max<std::int64_t>(0, std::min(row_end(), other.row_end()) - top),
            std::max<std::int64_t>(0, std::min(col_end(), other.col_end()) - left)};
  }

  /// The smallest rectangle that contains both. An empty rectangle adds nothing.
  Rect include(const Rect& other) const noexcept {
    if (empty()) return other;
    if (other.empty()) return *this;
    const std::int64_t top = std::min(row, other.row);
    const std::int64_t left = std::min(col, other.col);
    return {top, left, std::max(row_end(), other.row_end()) - top,
            std::max(col_end(), other.col_end()) - left};
  }

  /// This rectangle extended by a margin on each side; not clipped.
  Rect grown(std::int64_t margin_rows, std::int64_t margin_cols) const noexcept {
    return {row - margin_rows, col - margin_cols, rows + 2 * margin_rows, cols + 2 * margin_cols};
  }

  friend bool operator==(const Rect&, const Rect&) = default;
};

constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t unit) noexcept {
  return (value + unit - 1) / unit;
}

/// Smallest multiple of `unit` that is at least `value`; `unit` > 0, `value` >= 0.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) noexcept {
  return ceil_div(value, unit) * unit;
}

/// "rows A..B, columns C..D" (half-open), for messages.
std::string to_string(const Rect& rect);

}  // namespace sepconv
