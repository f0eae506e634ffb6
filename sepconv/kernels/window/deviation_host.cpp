#include "sepconv/kernels/simd/dispatch.hpp"
#include "sepconv/kernels/window/deviation.hpp"
#include "sepconv/kernels/window/window_check.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sepconv/kernels/window/deviation_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "sepconv/kernels/window/deviation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// `pixels` are null or in f64. Whole vectors.
void deviate(const double* means, const double* squares, const double* pixels, double least,
             std::int64_t count, double* to) {
  const hn::ScalableTag<double> d;
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto mean = hn::LoadU(d, means + i);
    auto value = deviation_of(mean, hn::LoadU(d, squares + i));
    if (pixels != nullptr) value = contrast_of(hn::LoadU(d, pixels + i), mean, value, hn::Set(d, least));
    hn::StoreU(value, d, to + i);
  }
}

void deviation(const WindowMoments& moments, const PixelView& out) {
  constexpr std::int64_t kChunk = 256;
  alignas(64) double means[kChunk], squares[kChunk], pixels[kChunk];
  const bool measures = moments.pixels.data != nullptr;
  const LoadRow<double> load = load_row_for<double>(measures ? moments.pixels.type : PixelType::f64);
  const StoreRow<double> store = store_row_for<double>(out.type);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t i = 0; i < out.row_elements(); i += kChunk) {
      const std::int64_t count = std::min(kChunk, out.row_elements() - i);
      std::copy_n(moments.means.row<double>(row) + i, count, means);
      std::copy_n(moments.squares.row<double>(row) + i, count, squares);
      if (measures) load(moments.pixels.row_data(row) + i * size_of(moments.pixels.type), count, pixels);
      deviate(means, squares, measures ? pixels : nullptr, moments.least, count, means);
      store(means, count, out.row_data(row) + i * size_of(out.type));
    }
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(deviation);

void deviation_host(const WindowMoments& moments, const PixelView& out) {
  check_moments(moments, out);
  HWY_DYNAMIC_DISPATCH(deviation)(moments, out);
}

}  // namespace sepconv
#endif
