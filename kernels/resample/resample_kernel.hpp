// Windows and weights of resampling along one axis: functions of absolute indices, in f64 without library
// functions whose rounding varies, shared by all implementations and the GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace sepconv {

/// Weights by the distance x from the pixel's centre, in pixels of the coarser axis.
enum class ResampleFilter : std::uint8_t {
  area,      ///< fraction of the pixel that the result's covers: OpenCV's INTER_AREA, GDAL's average
  box,       ///< 1 for -1/2 < x <= 1/2
  linear,    ///< 1 - |x| below 1
  cubic,     ///< Keys' cubic convolution with a = -1/2, below 2
  lanczos3,  ///< sinc(x) sinc(x / 3) below 3
  binomial,  ///< for whole scales N only: coefficients of ((1 + z + ... + z^(N-1)) / N)^3, a box applied
             ///< three times; (1 3 3 1) / 8 for N = 2
  nearest,   ///< the pixel that contains the centre
  gaussian,  ///< from pixels to cells or from cells to pixels: GaussianCells
};

/// A Gaussian between pixels and cells of `side` pixels each. Pixel 0 and cell 0 begin at the same position,
/// and distances between centres are exact for any part of an axis.
struct GaussianCells {
  double sigma = 1;                              ///< pixels
  std::int64_t side = 1;                         ///< pixels
  std::int64_t first_pixel = 0, first_cell = 0;  ///< pixel and cell at index 0 of ResampleAxis

  /// Radius of the filter in pixels.
  SEPCONV_HOST_DEVICE double reach() const { return 4.5 * sigma; }
};

/// How one axis of an image is resampled. Pixel i of the result has its centre at (i + 1/2) scale; pixel j of
/// the input covers j to j + 1.
struct ResampleAxis {
  std::int64_t from = 1;  ///< pixels of the input
  std::int64_t to = 1;    ///< pixels of the result
  double scale = 1;       ///< pixels of the input to one of the result
  ResampleFilter filter = ResampleFilter::box;
  GaussianCells cells{};  ///< of the gaussian filter, whose scale is cells.side or 1 / cells.side

  /// Whether the axis is unchanged and its pass is skipped.
  bool is_identity() const noexcept { return scale == 1; }
};

struct ResampleWindow {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// Size of a pixel of the coarser axis, in input pixels.
SEPCONV_HOST_DEVICE inline double resample_unit(const ResampleAxis& axis) {
  return axis.scale > 1 ? axis.scale : 1;
}

/// Radius of the filter in input pixels.
SEPCONV_HOST_DEVICE inline double resample_radius(const ResampleAxis& axis) {
  const double unit = resample_unit(axis);
  switch (axis.filter) {
    case ResampleFilter::area:
    case ResampleFilter::box:
    case ResampleFilter::nearest:
      return 0.5 * unit;
    case ResampleFilter::linear:
      return unit;
    case ResampleFilter::cubic:
      return 2 * unit;
    case ResampleFilter::lanczos3:
      return 3 * unit;
    case ResampleFilter::gaussian:
      return axis.cells.reach() * (axis.scale < 1 ? axis.scale : 1);
    case ResampleFilter::binomial:
      break;
  }
  return 1.5 * unit - 1;
}

/// The window of pixel or cell i of the result; it may extend beyond the input.
SEPCONV_HOST_DEVICE inline ResampleWindow gaussian_window(const ResampleAxis& axis, std::int64_t i) {
  const GaussianCells& cells = axis.cells;
  const bool to_cells = axis.scale > 1;
  const auto side = static_cast<double>(cells.side);
  const double centre = to_cells ? (static_cast<double>(cells.first_cell + i) + 0.5) * side
                                 : static_cast<double>(cells.first_pixel + i) + 0.5;
  const double unit = to_cells ? 1 : side;
  const auto first = static_cast<std::int64_t>(std::ceil((centre - cells.reach()) / unit - 0.5));
  const auto last = static_cast<std::int64_t>(std::floor((centre + cells.reach()) / unit - 0.5));
  return {first - (to_cells ? cells.first_pixel : cells.first_cell), last - first + 1};
}

/// Begin of pixel i of the result in input pixels, snapped to a pixel edge within rounding.
SEPCONV_HOST_DEVICE inline double area_edge(const ResampleAxis& axis, std::int64_t i) {
  constexpr double kRounding = 1.0 / (std::int64_t{1} << 51);
  const double edge = static_cast<double>(i) * axis.scale;
  const double whole = std::floor(edge + 0.5);
  const double distance = edge < whole ? whole - edge : edge - whole;
  return distance <= whole * kRounding ? whole : edge;
}

/// The window of pixel i, clipped to the input (except for the gaussian filter); never empty.
SEPCONV_HOST_DEVICE inline ResampleWindow resample_window(const ResampleAxis& axis, std::int64_t i) {
  if (axis.scale == 1) return {i, 1};
  if (axis.filter == ResampleFilter::gaussian) return gaussian_window(axis, i);
  const double centre = (static_cast<double>(i) + 0.5) * axis.scale;
  if (axis.filter == ResampleFilter::nearest) {
    const auto pixel = static_cast<std::int64_t>(centre);
    return {pixel < axis.from ? pixel : axis.from - 1, 1};
  }
  if (axis.filter == ResampleFilter::area) {
    const auto first = static_cast<std::int64_t>(area_edge(axis, i));
    const auto end = static_cast<std::int64_t>(std::ceil(area_edge(axis, i + 1)));
    return {first, (end < axis.from ? end : axis.from) - first};
  }
  const double reach = resample_radius(axis);
  // A pixel whose centre is on the edge of two cells belongs to exactly one, because both use the same edge.
  const bool cells = axis.filter == ResampleFilter::box && axis.scale > 1;
  const double begin = (cells ? static_cast<double>(i) * axis.scale : centre - reach) + 0.5;
  const double stop = (cells ? static_cast<double>(i + 1) * axis.scale : centre + reach) + 0.5;
  std::int64_t first = begin > 0 ? static_cast<std::int64_t>(begin) : 0;
  std::int64_t end = static_cast<std::int64_t>(stop);
  if (first > axis.from - 1) first = axis.from - 1;
  if (end > axis.from) end = axis.from;
  return {first, end > first ? end - first : 1};
}

/// sin(pi x) by Taylor's series over a quarter of a period.
SEPCONV_HOST_DEVICE inline double resample_sine(double x) {
  const double half_periods = std::floor(x + 0.5);
  const double angle = (x - half_periods) * 3.14159265358979323846;
  const double square = angle * angle;
  constexpr double kRatios[] = {1.0 / 420, 1.0 / 342, 1.0 / 272, 1.0 / 210, 1.0 / 156,
                                1.0 / 110, 1.0 / 72,  1.0 / 42,  1.0 / 20,  1.0 / 6};
  double sum = 1;
  for (const double ratio : kRatios) sum = 1 - sum * (square * ratio);
  const bool odd = half_periods != 2 * std::floor(half_periods / 2);
  return odd ? -angle * sum : angle * sum;
}

/// Number of ways to write `sum` as an ordered sum of three whole numbers from 0 to side - 1.
SEPCONV_HOST_DEVICE inline double sums_of_three(double sum, double side) {
  double count = 0;
  const double signs[] = {1, -3, 3};
  for (int k = 0; k < 3; ++k, sum -= side) {
    if (sum >= 0) count += signs[k] * ((sum + 1) * (sum + 2) / 2);
  }
  return count;
}

/// exp(-x) for 0 <= x <= 16: Taylor's series of exp(-x / 16), squared four times.
SEPCONV_HOST_DEVICE inline double resample_decay(double x) {
  const double sixteenth = x * (1.0 / 16);
  double power = 1;
  for (int k = 20; k > 0; --k) power = 1 - power * sixteenth / k;
  for (int k = 0; k < 4; ++k) power *= power;
  return power;
}

SEPCONV_HOST_DEVICE inline double gaussian_weight(const ResampleAxis& axis, std::int64_t i,
                                                  std::int64_t input_index) {
  const GaussianCells& cells = axis.cells;
  const bool to_cells = axis.scale > 1;
  const auto pixel = static_cast<double>(cells.first_pixel + (to_cells ? input_index : i));
  const auto cell = static_cast<double>(cells.first_cell + (to_cells ? i : input_index));
  const double distance = (pixel + 0.5) - (cell + 0.5) * static_cast<double>(cells.side);
  return resample_decay(distance * distance * (0.5 / (cells.sigma * cells.sigma)));
}

/// The weight of input pixel `pixel` in the window of pixel i, not yet divided by resample_sum().
SEPCONV_HOST_DEVICE inline double resample_weight(const ResampleAxis& axis, std::int64_t i,
                                                  std::int64_t pixel) {
  if (axis.filter == ResampleFilter::box || axis.filter == ResampleFilter::nearest) return 1;
  if (axis.filter == ResampleFilter::area) {
    const double begin = area_edge(axis, i) - static_cast<double>(pixel);
    const double end = area_edge(axis, i + 1) - static_cast<double>(pixel);
    return (end < 1 ? end : 1) - (begin > 0 ? begin : 0);
  }
  if (axis.filter == ResampleFilter::gaussian) return gaussian_weight(axis, i, pixel);
  if (axis.filter == ResampleFilter::binomial)
    return sums_of_three(static_cast<double>(pixel) - static_cast<double>(i - 1) * axis.scale - 1,
                         axis.scale);
  const double centre = (static_cast<double>(i) + 0.5) * axis.scale;
  const double signed_x = (static_cast<double>(pixel) - centre + 0.5) * (1 / resample_unit(axis));
  const double x = signed_x < 0 ? -signed_x : signed_x;
  switch (axis.filter) {
    case ResampleFilter::linear:
      return x < 1 ? 1 - x : 0;
    case ResampleFilter::cubic:
      if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
    case ResampleFilter::lanczos3:
    case ResampleFilter::area:
    case ResampleFilter::box:
    case ResampleFilter::nearest:
    case ResampleFilter::binomial:
    case ResampleFilter::gaussian:
      break;
  }
  if (x == 0) return 1;
  const double pi_x = 3.14159265358979323846 * x;
  return x < 3 ? 3 * resample_sine(x) * resample_sine(x / 3) / (pi_x * pi_x) : 0;
}

/// The sum of resample_weight() over a window; dividing by it normalises the weights to sum 1.
SEPCONV_HOST_DEVICE inline double resample_sum(const ResampleAxis& axis, std::int64_t i,
                                               const ResampleWindow& window) {
  double sum = 0;
  for (std::int64_t k = 0; k < window.count; ++k) sum += resample_weight(axis, i, window.first + k);
  return sum;
}

/// Maximum pixels of any window.
inline std::int64_t resample_max_taps(const ResampleAxis& axis) {
  if (axis.is_identity()) return 1;
  const std::int64_t taps = static_cast<std::int64_t>(2 * resample_radius(axis)) + 2;
  return axis.filter == ResampleFilter::gaussian ? taps : std::min(axis.from, taps);
}

}  // namespace sepconv
