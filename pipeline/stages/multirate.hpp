// A wide Gaussian as two narrower ones: from pixels to cells of many pixels, and from cells back to pixels.
// Private to pipeline/stages.
#pragma once

#include <cstdint>

namespace sepconv {

/// Supported standard deviations.
inline constexpr double kMinMultirateSigma = 8, kMaxMultirateSigma = 10'000;

/// One axis. Variances add: sigma^2 = to_cells^2 + from_cells^2. A cell is short compared with both standard
/// deviations, so aliasing and imaging are negligible; see docs/maths.md.
struct MultirateSide {
  explicit MultirateSide(double sigma);

  /// cells_of(): the cells that these pixels are computed from. pixels_of(): the pixels that these cells are
  /// computed from.
  struct Range {
    std::int64_t first, count;
  };
  Range cells_of(const Range& pixels) const;
  Range pixels_of(const Range& cells) const;

  /// Multiply-adds per pixel: for the pass to cells, and for both passes.
  double taps_to_cells() const;
  double taps() const;
  /// Maximum of sum |taps - exact| over about 64 pixel positions in a cell. `taps` is the effective kernel of
  /// both passes, `exact` the Gaussian without truncation.
  double worst_error() const;

  double sigma;
  std::int64_t cell;  ///< pixels
  double to_cells, from_cells;
};

}  // namespace sepconv
