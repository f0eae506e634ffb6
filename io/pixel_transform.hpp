// Map from the pixels of a result to those of its source.
#pragma once

#include <utility>

namespace sepconv {

/// Maps positions in a result to positions in its source. Pixel j covers [j, j + 1): integers are edges of
/// pixels.
struct PixelTransform {
  double rows = 1, cols = 1;  ///< source pixels per pixel of the result, before transposition
  double row = 0, col = 0;    ///< position in the source where the result begins
  bool turned = false;        ///< the result is transposed

  bool scales() const noexcept { return rows != 1 || cols != 1; }
  friend bool operator==(const PixelTransform&, const PixelTransform&) = default;

  /// The composition with the map of a second result, computed from this result, to the source.
  PixelTransform then(PixelTransform next) const noexcept {
    if (turned) {
      std::swap(next.rows, next.cols);
      std::swap(next.row, next.col);
    }
    return {rows * next.rows, cols * next.cols, row + rows * next.row, col + cols * next.col,
            turned != next.turned};
  }
};

}  // namespace sepconv
