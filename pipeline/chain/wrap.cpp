#include "pipeline/chain/wrap.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t floor_div(std::int64_t value, std::int64_t unit) noexcept {
  return value / unit - (value % unit < 0 ? 1 : 0);
}

/// First value of begin + k * side that is not below `min`.
std::int64_t first_repetition(std::int64_t begin, std::int64_t min, std::int64_t side) {
  return begin - floor_div(begin - min, side) * side;
}

}  // namespace

std::vector<PeriodicPiece> periodic_pieces(const Rect& rect, Extent image) {
  std::vector<PeriodicPiece> pieces;
  for (std::int64_t row = rect.row; row < rect.row_end();) {
    const std::int64_t top = floor_div(row, image.rows) * image.rows;
    const std::int64_t rows = std::min(rect.row_end(), top + image.rows) - row;
    for (std::int64_t col = rect.col; col < rect.col_end();) {
      const std::int64_t left = floor_div(col, image.cols) * image.cols;
      const std::int64_t cols = std::min(rect.col_end(), left + image.cols) - col;
      pieces.push_back({{row, col, rows, cols}, {row - top, col - left, rows, cols}});
      col += cols;
    }
    row += rows;
  }
  return pieces;
}

std::optional<Rect> find_repetition(const Rect& available, const Rect& rect, Extent image) {
  const Rect found{first_repetition(rect.row, available.row, image.rows),
                   first_repetition(rect.col, available.col, image.cols), rect.rows, rect.cols};
  if (!available.contains(found)) return std::nullopt;
  return found;
}

}  // namespace sepconv
