// A wide Gaussian by two narrower ones: from pixels to cells of many pixels, and back from cells to pixels.
// Private to pipeline/stages.
#pragma once

#include <cstdint>

namespace sepconv {

/// The standard deviations that are blurred so.
inline constexpr double kMinMultirateSigma = 8, kMaxMultirateSigma = 10'000;

/// One side. Variances add: sigma^2 = to_cells^2 + from_cells^2. A cell is short enough compared with both that what
/// it folds over, and what comes back as images of it, is next to nothing; see docs/maths.md.
struct MultirateSide {
  explicit MultirateSide(double sigma);

  /// Cells that these pixels are made of, and pixels that those are made of.
  struct Range {
    std::int64_t first, count;
  };
  Range cells_of(const Range& pixels) const;
  Range pixels_of(const Range& cells) const;

  /// Multiply-adds of a pixel, to cells, and in both passes.
  double taps_to_cells() const;
  double taps() const;
  /// Sum of |taps - exact| of the pixel in a cell at which it is largest, of some 64 of its pixels: the taps
  /// that both passes amount to, and those of the Gaussian without an end.
  double worst_error() const;

  double sigma;
  std::int64_t cell;  ///< pixels
  double to_cells, from_cells;
};

}  // namespace sepconv
