#include "kernels/simd/rows.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {
namespace {

double element_of(const ConstPixelView& pixels, std::int64_t row, std::int64_t element) {
  return visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    return to_arithmetic<double>(pixels.row<T>(row)[element]);
  });
}

double value_at(const WindowMoments& moments, std::int64_t row, std::int64_t element) {
  const SpreadWindows& windows = moments.windows;
  const std::int64_t channels = moments.sums.channels;
  SpreadSums sums{
      .count = moments.counts.data != nullptr ? element_of(moments.counts, row, element) : moments.count,
      .sum = element_of(moments.sums, row, element),
      .squares = element_of(moments.squares, row, element)};
  double spread = spread_of(sums);
  if (moments.has_windows() && !is_precise(sums, spread)) {
    const auto load = [&](std::int64_t at, std::int64_t col) {
      return element_of(windows.in.pixels, at, (col - windows.in.rect.col) * channels + element % channels);
    };
    sums = sums_around(windows, windows.out.row + row, windows.out.col + element / channels, load);
    spread = spread_of(sums);
  }
  const double deviation = deviation_of(sums, spread);
  return moments.pixels.data == nullptr
             ? deviation
             : contrast_of(sums, element_of(moments.pixels, row, element), deviation, moments.least);
}

}  // namespace

void deviation_reference(const WindowMoments& moments, const PixelView& out) {
  check_moments(moments, out);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t i = 0; i < out.row_elements(); ++i) {
      const double value = value_at(moments, row, i);
      if (out.type == PixelType::f32)
        out.row<float>(row)[i] = static_cast<float>(value);
      else
        out.row<double>(row)[i] = value;
    }
  }
}

}  // namespace sepconv
