// Where the pixels of an image lie in the one that it is made of.
#pragma once

#include <utility>

namespace sepconv {

/// From places in a result to places in its source. Pixel j of a side reaches from j to j + 1: whole numbers
/// are edges of pixels.
struct PixelTransform {
  double rows = 1, cols = 1;  ///< of the source, to one of a result that is not turned
  double row = 0, col = 0;    ///< of the source, where the result begins
  bool turned = false;        ///< rows of the result are columns of the source

  bool scales() const noexcept { return rows != 1 || cols != 1; }
  friend bool operator==(const PixelTransform&, const PixelTransform&) = default;

  /// From a result of this result to the source.
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
