#include "pipeline/stages/volume_footprint.hpp"

#include <algorithm>

#include "pipeline/chain/graph_tile.hpp"

namespace sepconv {

Rect PlanesNeeded::input_of(const Rect& output, const ImageSpec& input) const {
  const ImageSpec plane{from.plane, input.channels, input.type};
  Rect needed;
  for (const PlanePiece& piece : pieces_of(to, output.col, output.cols)) {
    Rect rows = stage.input_for(piece.rect, plane);
    if (!Rect::whole(from.plane).contains(rows)) rows = Rect::whole(from.plane);
    needed = needed.include(from.cols_of(piece.plane, rows.row, rows.rows));
  }
  return {output.row, needed.col, output.rows, needed.cols};
}

/// Checks outputs that begin with the first or with the last pixel of a row of a plane. All planes are
/// equivalent.
std::int64_t PlanesNeeded::max_cols(std::int64_t cols, const ImageSpec& input,
                                    std::int64_t result_cols) const {
  constexpr std::int64_t kMaxPositions = 1 << 10;
  const std::int64_t last = std::max<std::int64_t>(result_cols - cols, 0);
  const std::int64_t rows = std::min(to.plane.rows, last / to.plane.cols + 1);
  const std::int64_t step = ceil_div(rows, kMaxPositions);
  std::int64_t result = 0;
  const auto measure = [&](std::int64_t col) {
    result = std::max(result, input_of({0, std::min(col, last), 1, cols}, input).cols);
  };
  for (std::int64_t row = 0; row < rows; row += step) {
    measure(row * to.plane.cols);
    measure(row * to.plane.cols + to.plane.cols - 1);
  }
  measure(to.plane.area() - 1);
  measure(last);
  // Outputs between the sampled rows may need this much more.
  const ImageSpec plane{from.plane, input.channels, input.type};
  const std::int64_t extra_rows =
      stage.max_input_extent({1, 1}, plane).rows - stage.input_for(middle_rect(to.plane, {1, 1}), plane).rows;
  const std::int64_t between = step > 1 ? 2 * (step - 1) + extra_rows : 0;
  return std::min(result + between * from.plane.cols, input.extent.cols);
}

}  // namespace sepconv
