#include "kernels/conv/taps.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/error.hpp"

namespace sepconv {
namespace {

/// Binomial coefficients of larger radii exceed the range of double.
constexpr std::int64_t kMaxBinomialRadius = 512;

void check_radius(std::int64_t radius, std::int64_t max_radius) {
  if (radius < 0 || radius > max_radius) {
    throw InvalidArgument(
        fmt::format("radius {} is out of range: give one from 0 to {}", radius, max_radius));
  }
}

void check_sigma(double sigma) {
  if (!std::isfinite(sigma) || sigma < 0) {
    throw InvalidArgument(
        fmt::format("sigma {} is not valid for a gaussian: give a number of 0 or more", sigma));
  }
}

/// numpy.sum of contiguous doubles in the same order of additions, because SciPy normalises by it: eight
/// running sums up to 128 values; more are split in halves at a multiple of eight.
double numpy_sum(std::span<const double> values) {
  const std::size_t count = values.size();
  if (count > 128) {
    const std::size_t half = count / 2 - count / 2 % 8;
    return numpy_sum(values.first(half)) + numpy_sum(values.subspan(half));
  }
  double total = 0;
  std::size_t i = 0;
  if (count >= 8) {
    std::array<double, 8> sums{};
    for (; i + 8 <= count; i += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += values[i + lane];
    }
    total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
  for (; i < count; ++i) total += values[i];
  return total;
}

/// The n-fold step of both Pascal's triangle (sign +1) and differences (sign -1): convolution with {sign, 1}.
void extend_by_pair(std::vector<double>& taps, double sign) {
  taps.push_back(0);
  for (std::size_t i = taps.size() - 1; i > 0; --i) taps[i] = taps[i - 1] + sign * taps[i];
  taps[0] *= sign;
}

}  // namespace

std::vector<double> gaussian_taps(double sigma, std::int64_t radius, int order) {
  check_sigma(sigma);
  check_radius(radius, kMaxRadius);
  if (order < 0 || order > 3) {
    throw InvalidArgument(fmt::format("gaussian of order {} is not known: give order 0 to 3", order));
  }
  if (sigma == 0) {  // this axis is not filtered
    if (order == 0) return {1.0};
    throw InvalidArgument(
        "a sigma of 0 leaves an axis alone and has no derivative: give a sigma above 0, or order 0 for this "
        "axis (order_y=0)");
  }
  const double variance = sigma * sigma;
  const double inverse_variance = 1 / variance;
  const auto position = [radius](std::size_t i) {
    return static_cast<double>(static_cast<std::int64_t>(i) - radius);
  };
  std::vector<double> taps(static_cast<std::size_t>(2 * radius + 1), 1.0);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double x = position(i);
    if (x != 0) taps[i] = std::exp(-0.5 / variance * (x * x));  // at 0 a tiny variance would make it inf * 0
  }
  const double sum = numpy_sum(taps);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double x = position(i);
    taps[i] /= sum;
    // SciPy reverses its weights for correlation, hence x where the derivative has -x.
    if (order == 1) taps[i] *= x * inverse_variance;
    if (order == 2) taps[i] *= -1 / variance + x * x * (inverse_variance * inverse_variance);
    if (order == 3)
      taps[i] *= x * x * x * (inverse_variance * inverse_variance * inverse_variance) -
                 x * (3 * (inverse_variance * inverse_variance));
    if (!std::isfinite(taps[i])) {
      throw InvalidArgument(fmt::format("sigma {} is too small for a derivative: its taps overflow", sigma));
    }
  }
  return taps;
}

std::int64_t gaussian_radius(double sigma, double truncate) {
  check_sigma(sigma);
  const double radius = std::trunc(truncate * sigma + 0.5);
  if (!(truncate >= 0) || !(radius <= static_cast<double>(kMaxRadius))) {
    throw InvalidArgument(fmt::format(
        "sigma {} with truncate {} gives a radius outside 0 to {}: give a smaller sigma or a radius", sigma,
        truncate, kMaxRadius));
  }
  return static_cast<std::int64_t>(radius);
}

std::vector<double> box_taps(std::int64_t radius) {
  check_radius(radius, kMaxRadius);
  const auto count = static_cast<std::size_t>(2 * radius + 1);
  return std::vector<double>(count, 1.0 / static_cast<double>(count));
}

std::vector<double> binomial_taps(std::int64_t radius) {
  check_radius(radius, kMaxBinomialRadius);
  std::vector<double> taps = {1.0};
  for (std::int64_t i = 0; i < 2 * radius; ++i) {
    extend_by_pair(taps, 1);
    for (double& tap : taps) tap *= 0.5;  // exact, and keeps the middle in range
  }
  return taps;
}

std::vector<double> difference_taps() { return {-1, 0, 1}; }
std::vector<double> sobel_smoothing_taps() { return {1, 2, 1}; }
std::vector<double> scharr_smoothing_taps() { return {3, 10, 3}; }

std::vector<double> derivative_taps(int order, std::int64_t radius) {
  check_radius(radius, kMaxBinomialRadius);
  if (order < 0 || order > 2 * radius) {
    throw InvalidArgument(fmt::format(
        "a derivative of order {} needs order to be from 0 to {} at radius {}: give a larger radius", order,
        2 * radius, radius));
  }
  std::vector<double> taps = {1.0};
  for (std::int64_t i = 0; i < 2 * radius - order; ++i) extend_by_pair(taps, 1);
  for (int i = 0; i < order; ++i) extend_by_pair(taps, -1);
  return taps;
}

}  // namespace sepconv
