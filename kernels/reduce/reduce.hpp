// Reductions of pixels to statistics: histograms, and moments of cells.
#pragma once

#include <cstdint>
#include <limits>

#include "core/image.hpp"

namespace sepconv {

/// Number of bins of a histogram of floating values.
inline constexpr int kBins = 256;

/// Count, range, sum of distances from `about`, which is close to the mean, and sum of squared distances from
/// the mean itself, so that both are precise far from 0, too. A minimum or maximum of zero is +0, whatever
/// the signs of the zeros. NaN is counted and otherwise skipped. An infinity makes the mean infinite and the
/// squares NaN.
struct Moments {
  std::int64_t count = 0, nan_count = 0;
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  double about = 0, sum = 0, squares = 0;

  double mean() const { return about + sum / static_cast<double>(count); }
  /// Sets the sums for `count` values from the rounded mean and the sums of distances from it and of their
  /// squares.
  void set_sums(double rounded_mean, double distances, double squared_distances) {
    about = rounded_mean;
    sum = distances == distances ? distances : 0;  // NaN: the mean is infinite
    squares = squared_distances - distances * (distances / static_cast<double>(count));
  }
  /// Combines moments as in Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
  /// computing sample variances" (1979).
  void add(const Moments& other);
};

/// Number of lanes that define the order of a cell's sums. Column c of the cell belongs to lane
/// c % kMomentLanes, which adds its values row by row. Then the lanes are halved repeatedly: lane i adds lane
/// i + half. So vectors of any width add in the same order.
inline constexpr int kMomentLanes = 128;

/// Moments of one channel of a cell of f32 or f64. Two passes, the mean first, to avoid cancellation in the
/// squares; a cell should therefore fit a cache.
Moments cell_moments(const ConstPixelView& cell, std::int64_t channel);

/// kBins bins of equal width over [low, high], both finite.
struct BinScale {
  double low = 0, high = 0;

  /// The bin of a value; -1 for values outside, such as infinities, and for NaN.
  int bin(double value) const {
    if (!(value >= low && value <= high)) return -1;
    // Halved, because the range of f64 values may overflow f64.
    const double part = (value / 2 - low / 2) / (high / 2 - low / 2);
    if (!(part >= 0)) return 0;  // 0 / 0: all values are equal or adjacent
    const int index = static_cast<int>(part * kBins);
    return index < kBins ? index : kBins - 1;
  }
};

/// Number of different values of an integer type.
constexpr std::int64_t value_count(PixelType type) noexcept { return std::int64_t{1} << (8 * size_of(type)); }

}  // namespace sepconv
