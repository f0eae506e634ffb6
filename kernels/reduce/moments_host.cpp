#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "kernels/reduce/reduce.hpp"

namespace sepconv {
namespace {

using Lanes = std::array<double, kMomentLanes>;

/// Calls visit(lane, value) for the channel's values, in order within each lane. The lanes of the inner loop
/// are independent, so that it is vectorised.
template <class T, class Visit>
void for_each_value(const ConstPixelView& cell, std::int64_t channel, Visit&& visit) {
  for (std::int64_t row = 0; row < cell.extent.rows; ++row) {
    const T* values = cell.row<T>(row) + channel;
    for (std::int64_t first = 0; first < cell.extent.cols; first += kMomentLanes) {
      const std::int64_t lanes = std::min<std::int64_t>(kMomentLanes, cell.extent.cols - first);
      const T* value = values + first * cell.channels;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        visit(static_cast<std::size_t>(lane), static_cast<double>(value[lane * cell.channels]));
      }
    }
  }
}

double lane_sum(Lanes& lanes) {
  for (std::size_t half = kMomentLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

template <class T>
Moments moments_of(const ConstPixelView& cell, std::int64_t channel) {
  Moments moments;
  Lanes min, max, sum{}, squares{};
  min.fill(moments.min), max.fill(moments.max);
  std::int64_t count = 0;
  for_each_value<T>(cell, channel, [&](std::size_t lane, double value) {
    const bool is_number = value == value;
    count += is_number;
    sum[lane] += is_number ? value : 0.0;
    min[lane] = value < min[lane] ? value : min[lane];
    max[lane] = max[lane] < value ? value : max[lane];
  });
  moments.count = count, moments.nan_count = cell.extent.area() - count;
  if (count == 0) return moments;
  moments.min = *std::ranges::min_element(min) + 0.0, moments.max = *std::ranges::max_element(max) + 0.0;

  const double mean = lane_sum(sum) / static_cast<double>(count);
  Lanes distances{};
  for_each_value<T>(cell, channel, [&](std::size_t lane, double value) {
    const double distance = value - mean;
    distances[lane] += value == value ? distance : 0.0;
    squares[lane] += value == value ? distance * distance : 0.0;
  });
  moments.set_sums(mean, lane_sum(distances), lane_sum(squares));
  return moments;
}

}  // namespace

void Moments::add(const Moments& other) {
  nan_count += other.nan_count;
  if (other.count == 0) return;
  if (count == 0) about = other.about;
  const double about_difference = about == other.about ? 0 : other.about - about;  // of infinities, too
  const auto other_count = static_cast<double>(other.count);
  if (count > 0) {
    const double delta = about_difference + (other.sum / other_count - sum / static_cast<double>(count));
    const double fraction = other_count / static_cast<double>(count + other.count);
    squares += delta * delta * static_cast<double>(count) * fraction;
  }
  min = std::min(min, other.min), max = std::max(max, other.max);
  count += other.count;
  sum += other.sum + other_count * about_difference;
  squares += other.squares;
}

Moments cell_moments(const ConstPixelView& cell, std::int64_t channel) {
  if (cell.type == PixelType::f64) return moments_of<double>(cell, channel);
  if (cell.type == PixelType::f32) return moments_of<float>(cell, channel);
  throw InvalidArgument("moments of cells support only f32 and f64; count the values of integers");
}

}  // namespace sepconv
