// Standard deviation from sums. If the mean is far from 0, the sums are too imprecise; then the pixels are
// summed again relative to one of them. Shared by the references, the host and the device.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "core/image.hpp"
#include "kernels/conv/border.hpp"

namespace sepconv {

/// Count, sum and sum of squares of (pixel - origin).
struct SpreadSums {
  double count = 0, sum = 0, squares = 0, origin = 0;
};

/// The spread is count * squares - sum^2, which is count^2 times the variance. The products are exact, as
/// sums of two numbers each, and so is their difference (Knuth's two-sum) before it is rounded. For whole
/// numbers the spread is rounded once, for any origin.
SEPCONV_HOST_DEVICE inline double spread_of(const SpreadSums& sums) {
  const double product = sums.count * sums.squares, square = sums.sum * sums.sum;
  const double product_low = std::fma(sums.count, sums.squares, -product);
  const double square_low = std::fma(sums.sum, sums.sum, -square);
  const double high = product - square, back = high - product;
  const double low = (product - (high - back)) + (-square - back);
  return high + (low + (product_low - square_low));
}

/// Minimum of spread / (count * squares): an error of about 2^-48 in the sums is then less than 2^-22 of the
/// spread. It corresponds to a mean of up to 8192 deviations.
inline constexpr double kMinSpread = 0x1p-26;

/// Whether rounding of the sums is negligible in the spread. Recomputing cannot improve 0 or NaN.
SEPCONV_HOST_DEVICE inline bool is_precise(const SpreadSums& sums, double spread) {
  const double product = sums.count * sums.squares;
  return spread >= product * kMinSpread || product == 0 || product != product;
}

SEPCONV_HOST_DEVICE inline double deviation_of(const SpreadSums& sums, double spread) {
  return (spread <= 0 ? 0 : std::sqrt(spread)) / sums.count;
}

/// (pixel - mean) / max(deviation, min_deviation).
SEPCONV_HOST_DEVICE inline double contrast_of(const SpreadSums& sums, double pixel, double deviation,
                                              double min_deviation) {
  if (deviation != deviation) return deviation;
  const double divisor = deviation > min_deviation ? deviation : min_deviation;
  if (!(divisor > 0 || pixel != pixel)) return 0;
  return std::fma(sums.count, pixel - sums.origin, -sums.sum) / sums.count / divisor;
}

/// The windows whose deviations are computed.
struct SpreadWindows {
  ConstRegion in{};  ///< contains all windows, as required by window_host() or a volume stage
  Border border{};
  Rect out{};  ///< the centre pixels
  std::int64_t radius_x = 0, radius_y = 0, radius_z = 0;
  bool columns_first = false;
  bool ignores_nan = false;
  /// Extent of a volume's planes, which follow each other in the rows of `in`; empty for an image.
  Extent plane{};
};

/// A pixel's position, and the location of its neighbours in `in`.
class SpreadPosition {
 public:
  SEPCONV_HOST_DEVICE SpreadPosition(const SpreadWindows& windows, std::int64_t row, std::int64_t col)
      : windows_(windows), is_volume_(windows.plane.cols > 0), y_(row), x_(col) {
    if (!is_volume_) return;
    const std::int64_t area = windows.plane.rows * windows.plane.cols, in_plane = col % area;
    z_ = row, first_col_ = col - in_plane;
    y_ = in_plane / windows.plane.cols, x_ = in_plane % windows.plane.cols;
  }

  /// A row of a plane: a row of in.pixels (-1 for the border's constant) and the image column at which its
  /// pixels begin.
  struct Line {
    std::int64_t row, first_col;
  };
  SEPCONV_HOST_DEVICE Line line(std::int64_t dz, std::int64_t dy) const {
    const ConstRegion& in = windows_.in;
    const auto image_row = [&](std::int64_t row) {
      const bool is_available = row >= in.rect.row && row < in.rect.row + in.rect.rows;
      const std::int64_t available_row = is_available ? row : mapped(row, in.image.rows);
      return !is_available && available_row < 0 ? -1 : available_row - in.rect.row;
    };
    if (!is_volume_) return {image_row(y_ + dy), 0};
    const std::int64_t y = mapped(y_ + dy, windows_.plane.rows);
    return {y < 0 ? -1 : image_row(z_ + dz), first_col_ + y * windows_.plane.cols};
  }
  SEPCONV_HOST_DEVICE std::int64_t width() const {
    return is_volume_ ? windows_.plane.cols : windows_.in.image.cols;
  }
  SEPCONV_HOST_DEVICE std::int64_t x() const { return x_; }
  /// The column within a line; -1 for the constant.
  SEPCONV_HOST_DEVICE std::int64_t mapped_x(std::int64_t x) const { return mapped(x, width()); }

 private:
  SEPCONV_HOST_DEVICE std::int64_t mapped(std::int64_t index, std::int64_t size) const {
    if (windows_.border.mode == BorderMode::wrap) return ((index % size) + size) % size;
    return border_index(index, size, windows_.border.mode);
  }

  const SpreadWindows& windows_;
  bool is_volume_;
  std::int64_t z_ = 0, y_, x_, first_col_ = 0;
};

/// Calls visit(dz, dy, dx) for all pixels of a window, plane by plane, in the order of summation.
template <class Visit>
SEPCONV_HOST_DEVICE void for_each_neighbour(const SpreadWindows& windows, const Visit& visit) {
  const bool columns_first = windows.columns_first;
  const std::int64_t outer = columns_first ? windows.radius_x : windows.radius_y;
  const std::int64_t inner = columns_first ? windows.radius_y : windows.radius_x;
  for (std::int64_t dz = -windows.radius_z; dz <= windows.radius_z; ++dz)
    for (std::int64_t i = -outer; i <= outer; ++i)
      for (std::int64_t j = -inner; j <= inner; ++j) columns_first ? visit(dz, j, i) : visit(dz, i, j);
}

/// Adds a pixel; the first becomes the origin.
SEPCONV_HOST_DEVICE inline void add_pixel(SpreadSums& sums, double pixel, bool ignores_nan) {
  if (ignores_nan && pixel != pixel) return;
  if (sums.count == 0) sums.origin = pixel;
  const double distance = pixel - sums.origin;
  sums.count += 1;
  sums.sum += distance;
  sums.squares = std::fma(distance, distance, sums.squares);
}

/// The sums of the window around a pixel, added pixel by pixel relative to the first, which is at most
/// sqrt(count) deviations from the mean. load(row, col) takes a row of in.pixels and a column of the image.
template <class Load>
SEPCONV_HOST_DEVICE SpreadSums sums_around(const SpreadWindows& windows, std::int64_t row, std::int64_t col,
                                           const Load& load) {
  const SpreadPosition position(windows, row, col);
  SpreadSums sums;
  for_each_neighbour(windows, [&](std::int64_t dz, std::int64_t dy, std::int64_t dx) {
    const SpreadPosition::Line line = position.line(dz, dy);
    const std::int64_t x = position.mapped_x(position.x() + dx);
    const bool is_border = line.row < 0 || x < 0;
    add_pixel(sums, is_border ? windows.border.value : load(line.row, line.first_col + x),
              windows.ignores_nan);
  });
  return sums;
}

}  // namespace sepconv
