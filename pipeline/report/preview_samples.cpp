#include "pipeline/report/preview_samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace sepconv {
namespace {

std::vector<std::int64_t> middles(std::int64_t begin, std::int64_t length, std::int64_t count) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i)
    positions.push_back(grid_position(begin, length, count, static_cast<double>(i) + 0.5));
  return positions;
}

/// Index range of the ascending `positions` that are in [begin, end).
std::pair<std::size_t, std::size_t> index_range(const std::vector<std::int64_t>& positions,
                                                std::int64_t begin, std::int64_t end) {
  const auto first = std::ranges::lower_bound(positions, begin);
  return {static_cast<std::size_t>(first - positions.begin()),
          static_cast<std::size_t>(std::ranges::lower_bound(positions, end) - positions.begin())};
}

}  // namespace

std::int64_t grid_position(std::int64_t begin, std::int64_t length, std::int64_t count, double part) {
  return begin + static_cast<std::int64_t>(part * static_cast<double>(length) / static_cast<double>(count));
}

std::int64_t shown_channels(const ImageSpec& image) {
  return image.channels == 3 || image.channels == 4 ? 3 : 1;
}

Extent sampling_grid(Extent area, std::int64_t max_pixels) {
  const double step =
      std::max(1.0, std::sqrt(static_cast<double>(area.area()) / static_cast<double>(max_pixels)));
  const auto count = [step, max_pixels](std::int64_t length) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(length) / step), 1,
                                    max_pixels);
  };
  const std::int64_t rows = count(area.rows);
  return {rows, std::min(count(area.cols), std::max<std::int64_t>(1, max_pixels / rows))};
}

SampledPixels::SampledPixels(const ImageSpec& image, const Rect& area, std::int64_t max_pixels,
                             const MissingSamples& missing)
    : area_(area), channels_(shown_channels(image)), type_(image.type), missing_(missing) {
  const Extent points = sampling_grid(area.extent(), max_pixels);
  rows_ = middles(area.row, area.rows, points.rows);
  cols_ = middles(area.col, area.cols, points.cols);
  pixels_.resize(static_cast<std::size_t>(grid().area() * channels_ * size_of(type_)));
  if (missing_.alpha) hidden_.resize(static_cast<std::size_t>(grid().area()));
}

void SampledPixels::see(const Rect& rect, const ConstPixelView& pixels) {
  const auto [first_row, end_row] = index_range(rows_, rect.row, rect.row_end());
  const auto [first_col, end_col] = index_range(cols_, rect.col, rect.col_end());
  if (first_row == end_row || first_col == end_col) return;
  seen_ = true;
  const bool whole_rows = std::ssize(cols_) == area_.cols;
  visit_pixel_type(type_, [&]<class T>(std::type_identity<T>) {
    const auto channels = static_cast<std::size_t>(channels_);
    for (std::size_t i = first_row; i < end_row; ++i) {
      const T* const source = pixels.row<T>(rows_[i] - rect.row);
      T* destination = reinterpret_cast<T*>(pixels_.data()) + (i * cols_.size() + first_col) * channels;
      for (std::size_t j = first_col; j < end_col && missing_.alpha; ++j)
        hidden_[i * cols_.size() + j] =
            source[(cols_[j] - rect.col) * pixels.channels + *missing_.alpha] == T{0};
      if (whole_rows && pixels.channels == channels_) {
        std::copy_n(source + (cols_[first_col] - rect.col) * channels_, (end_col - first_col) * channels,
                    destination);
        continue;
      }
      for (std::size_t j = first_col; j < end_col; ++j, destination += channels) {
        const T* const pixel = source + (cols_[j] - rect.col) * pixels.channels;
        for (std::size_t channel = 0; channel < channels; ++channel) destination[channel] = pixel[channel];
      }
    }
  });
}

template <class A>
std::vector<A> SampledPixels::values_as() const {
  std::vector<A> values(static_cast<std::size_t>(grid().area() * channels_));
  const auto is_missing = [this](std::size_t i, double value) {
    return missing_.value == value || (missing_.alpha && hidden_[i / static_cast<std::size_t>(channels_)]);
  };
  visit_pixel_type(type_, [&]<class T>(std::type_identity<T>) {
    const T* const source = reinterpret_cast<const T*>(pixels_.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = is_missing(i, static_cast<double>(source[i])) ? std::numeric_limits<A>::quiet_NaN()
                                                                : static_cast<A>(source[i]);
  });
  return values;
}

template std::vector<float> SampledPixels::values_as() const;
template std::vector<double> SampledPixels::values_as() const;

}  // namespace sepconv
