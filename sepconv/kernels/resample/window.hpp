// Which pixels of a side a pixel of the resampled side is made of, and their weights: functions of absolute
// indices, in f64 without functions that a library may round as it likes, shared by every implementation and
// by the GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sepconv {

/// Weights by the distance x from the pixel's centre, in pixels of the coarser of both sides.
enum class ResampleFilter : std::uint8_t {
  box,       ///< 1 for -1/2 < x <= 1/2
  linear,    ///< 1 - |x| below 1
  cubic,     ///< Keys' cubic convolution with a = -1/2, below 2
  lanczos3,  ///< sinc(x) sinc(x / 3) below 3
  binomial,  ///< of whole scales N only: coefficients of ((1 + z + .. + z^(N-1)) / N)^3, the mean of means of
             ///< means; (1 3 3 1) / 8 for N = 2
};

/// How one side of an image is resampled. Pixel i of the result has its centre at (i + 1/2) scale, where
/// pixel j of the input reaches from j to j + 1.
struct ResampleAxis {
  std::int64_t from = 1;  ///< pixels of the input
  std::int64_t to = 1;    ///< pixels of the result
  double scale = 1;       ///< pixels of the input to one of the result
  ResampleFilter filter = ResampleFilter::box;

  /// The side stays as it is, and its pass is left out.
  bool kept() const noexcept { return scale == 1; }
};

struct ResampleWindow {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

#ifdef __CUDACC__
#define SEPCONV_HOST_DEVICE __host__ __device__
#else
#define SEPCONV_HOST_DEVICE
#endif

/// Pixels of the input to one of the coarser side.
SEPCONV_HOST_DEVICE inline double resample_unit(const ResampleAxis& axis) {
  return axis.scale > 1 ? axis.scale : 1;
}

/// Pixels of the input on each side of a centre.
SEPCONV_HOST_DEVICE inline double resample_reach(const ResampleAxis& axis) {
  const double unit = resample_unit(axis);
  switch (axis.filter) {
    case ResampleFilter::box:
      return 0.5 * unit;
    case ResampleFilter::linear:
      return unit;
    case ResampleFilter::cubic:
      return 2 * unit;
    case ResampleFilter::lanczos3:
      return 3 * unit;
    case ResampleFilter::binomial:
      break;
  }
  return 1.5 * unit - 1;
}

/// The pixels within reach of pixel i's centre that the input has: never none.
SEPCONV_HOST_DEVICE inline ResampleWindow resample_window(const ResampleAxis& axis, std::int64_t i) {
  if (axis.scale == 1) return {i, 1};
  const double centre = (static_cast<double>(i) + 0.5) * axis.scale;
  const double reach = resample_reach(axis);
  // A pixel whose centre lies on the edge of two cells is in one of them: both ask for the same edge.
  const bool cells = axis.filter == ResampleFilter::box && axis.scale > 1;
  const double begin = (cells ? static_cast<double>(i) * axis.scale : centre - reach) + 0.5;
  const double stop = (cells ? static_cast<double>(i + 1) * axis.scale : centre + reach) + 0.5;
  std::int64_t first = begin > 0 ? static_cast<std::int64_t>(begin) : 0;
  std::int64_t end = static_cast<std::int64_t>(stop);
  if (first > axis.from - 1) first = axis.from - 1;
  if (end > axis.from) end = axis.from;
  return {first, end > first ? end - first : 1};
}

/// sin(pi x): Taylor's series over a quarter of a turn.
SEPCONV_HOST_DEVICE inline double resample_sine(double x) {
  const double turns = std::floor(x + 0.5);
  const double angle = (x - turns) * 3.14159265358979323846;
  const double square = angle * angle;
  constexpr double kRatios[] = {1.0 / 420, 1.0 / 342, 1.0 / 272, 1.0 / 210, 1.0 / 156,
                                1.0 / 110, 1.0 / 72,  1.0 / 42,  1.0 / 20,  1.0 / 6};
  double sum = 1;
  for (const double ratio : kRatios) sum = 1 - sum * (square * ratio);
  const bool odd = turns != 2 * std::floor(turns / 2);
  return odd ? -angle * sum : angle * sum;
}

/// Ways to write `sum` as a sum of three whole numbers below `side`.
SEPCONV_HOST_DEVICE inline double sums_of_three(double sum, double side) {
  double ways = 0;
  const double signs[] = {1, -3, 3};
  for (int k = 0; k < 3; ++k, sum -= side) {
    if (sum >= 0) ways += signs[k] * ((sum + 1) * (sum + 2) / 2);
  }
  return ways;
}

/// The weight of the input's `pixel`, one of the window's, for pixel i; not yet divided by the window's sum.
SEPCONV_HOST_DEVICE inline double resample_weight(const ResampleAxis& axis, std::int64_t i,
                                                  std::int64_t pixel) {
  if (axis.filter == ResampleFilter::box) return 1;
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
    case ResampleFilter::box:
    case ResampleFilter::binomial:
      break;
  }
  if (x == 0) return 1;
  const double pi_x = 3.14159265358979323846 * x;
  return x < 3 ? 3 * resample_sine(x) * resample_sine(x / 3) / (pi_x * pi_x) : 0;
}

/// What resample_weight() is divided by, so that the weights of what the input has sum to 1.
SEPCONV_HOST_DEVICE inline double resample_sum(const ResampleAxis& axis, std::int64_t i,
                                               const ResampleWindow& window) {
  double sum = 0;
  for (std::int64_t k = 0; k < window.count; ++k) sum += resample_weight(axis, i, window.first + k);
  return sum;
}

/// Most pixels of any window.
inline std::int64_t resample_most_taps(const ResampleAxis& axis) {
  if (axis.kept()) return 1;
  return std::min(axis.from, static_cast<std::int64_t>(2 * resample_reach(axis)) + 2);
}

}  // namespace sepconv
