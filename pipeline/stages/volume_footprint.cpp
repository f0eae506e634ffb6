#include "pipeline/stages/volume_footprint.hpp"

#include <algorithm>

#include "pipeline/chain/chain_tile.hpp"

namespace sepconv {

Rect PlanesNeeded::of(const Rect& output, const ImageSpec& input) const {
  const ImageSpec plane{from.plane, input.channels, input.type};
  Rect needed;
  for (const PlanePiece& piece : pieces_of(to, output.col, output.cols)) {
    Rect rows = stage.input_for(piece.rect, plane);
    if (!Rect::whole(from.plane).contains(rows)) rows = Rect::whole(from.plane);
    needed = needed.include(from.cols_of(piece.plane, rows.row, rows.rows));
  }
  return {output.row, needed.col, output.rows, needed.cols};
}

/// For those that begin where a row of a plane does, and those that begin with its last pixel. Planes are
/// alike.
std::int64_t PlanesNeeded::max_cols(std::int64_t cols, const ImageSpec& input,
                                    std::int64_t result_cols) const {
  constexpr std::int64_t kMaxPlaces = 1 << 10;
  const std::int64_t last = std::max<std::int64_t>(result_cols - cols, 0);
  const std::int64_t rows = std::min(to.plane.rows, last / to.plane.cols + 1);
  const std::int64_t step = ceil_div(rows, kMaxPlaces);
  std::int64_t most = 0;
  const auto look = [&](std::int64_t col) {
    most = std::max(most, of({0, std::min(col, last), 1, cols}, input).cols);
  };
  for (std::int64_t row = 0; row < rows; row += step) {
    look(row * to.plane.cols);
    look(row * to.plane.cols + to.plane.cols - 1);
  }
  look(to.plane.area() - 1);
  look(last);
  // Between the rows that are looked at as much more may be needed as elsewhere than in the middle.
  const ImageSpec plane{from.plane, input.channels, input.type};
  const std::int64_t elsewhere =
      stage.max_input_extent({1, 1}, plane).rows - stage.input_for(middle_rect(to.plane, {1, 1}), plane).rows;
  const std::int64_t between = step > 1 ? 2 * (step - 1) + elsewhere : 0;
  return std::min(most + between * from.plane.cols, input.extent.cols);
}

}  // namespace sepconv
