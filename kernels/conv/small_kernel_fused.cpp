#include "kernels/conv/small_kernel_fused.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/pixel_type.hpp"

namespace sepconv {
namespace {

/// Maximum |result| of a pass over values from -1 to 1, apart from rounding.
double gain(const std::vector<double>& taps) {
  double sum = 0;
  for (const double tap : taps) sum += std::abs(tap);
  return sum;
}

template <class T>
bool is_pixel(double value) {
  return value >= std::numeric_limits<T>::lowest() && value <= std::numeric_limits<T>::max() &&
         value == std::nearbyint(value);
}

/// Whether T can represent the border's constant and a 32-bit integer the results. Values between the passes
/// are then finite, too.
template <class T>
bool values_fit(const SeparableTaps& taps, const Border& border) {
  if constexpr (std::is_integral_v<T>) {
    const double value_range = -1.0 * std::numeric_limits<T>::lowest() + std::numeric_limits<T>::max();
    return std::max(gain(taps.row), 1.0) * std::max(gain(taps.col), 1.0) * value_range < (1 << 30) &&
           (border.mode != BorderMode::constant || is_pixel<T>(border.value));
  }
  return false;
}

}  // namespace

bool supports_small_kernel(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                           const Region& out) {
  const std::int64_t channels = in.pixels.channels, radius = taps.row_radius();
  const std::int64_t max_radius =
      channels > 1 && out.past_caches ? SmallKernel::kMaxRadius : SmallKernel::kMaxRadiusCached;
  return !taps.columns_first && radius >= 1 && radius <= max_radius && taps.row.size() == taps.col.size() &&
         2 * radius * channels <= SmallKernel::kMaxReach &&
         out.pixels.row_elements() >= SmallKernel::kBlock && in.pixels.type == out.pixels.type &&
         visit_pixel_type(in.pixels.type,
                          [&]<class T>(std::type_identity<T>) { return values_fit<T>(taps, border); });
}

}  // namespace sepconv
