#include <cmath>

#include "sepconv/kernels/window/deviation.hpp"
#include "sepconv/kernels/window/window_check.hpp"

namespace sepconv {
namespace {

double deviation_of(double mean, double squares) {
  const double variance = std::fma(-mean, mean, squares);
  return variance <= 0 ? 0 : std::sqrt(variance);
}

double contrast_of(double pixel, double mean, double deviation, double least) {
  if (std::isnan(deviation)) return deviation;
  const double measure = deviation > least ? deviation : least;
  return measure > 0 || std::isnan(pixel) ? (pixel - mean) / measure : 0;
}

}  // namespace

void deviation_reference(const WindowMoments& moments, const PixelView& out) {
  check_moments(moments, out);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t i = 0; i < out.row_elements(); ++i) {
      const double mean = moments.means.row<double>(row)[i];
      double value = deviation_of(mean, moments.squares.row<double>(row)[i]);
      if (moments.pixels.data != nullptr)
        visit_pixel_type(moments.pixels.type, [&]<class T>(std::type_identity<T>) {
          value = contrast_of(static_cast<double>(moments.pixels.row<T>(row)[i]), mean, value, moments.least);
        });
      if (out.type == PixelType::f32)
        out.row<float>(row)[i] = static_cast<float>(value);
      else
        out.row<double>(row)[i] = value;
    }
  }
}

}  // namespace sepconv
