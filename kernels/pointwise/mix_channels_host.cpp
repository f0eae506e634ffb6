#include "kernels/pointwise/pointwise.hpp"
#include "kernels/pointwise/pointwise_check.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/mix_channels_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Number of pixels that are split into planes, mixed and interleaved again in one step: whole vectors of
/// every type.
constexpr std::int64_t kMixPixels = 128;

/// One output plane: offset + sum over j of coefficients[j] * planes[j]. Planes have kMixPixels elements and
/// are contiguous.
template <class A>
void mix_plane(const A* coefficients, A offset, const A* planes, std::int64_t channels, A* to) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < kMixPixels; i += lanes) {
    auto sum = hn::Set(d, offset);
    for (std::int64_t j = 0; j < channels; ++j) {
      sum = fused_multiply_add(hn::Set(d, coefficients[j]), hn::LoadU(d, planes + j * kMixPixels + i), sum);
    }
    hn::StoreU(sum, d, to + i);
  }
}

template <class A>
void mix_channels(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out) {
  const std::int64_t max_channels = std::max(in.channels, out.channels);
  const auto zeros = [](std::int64_t count) { return std::vector<A>(static_cast<std::size_t>(count)); };
  const std::vector<A> coefficients(matrix.coefficients.begin(), matrix.coefficients.end());
  std::vector<A> pixels = zeros(max_channels * kMixPixels);
  std::vector<A> planes = zeros(in.channels * kMixPixels);
  std::vector<A> mixed = zeros(kMixPixels);
  const LoadRow<A> load = load_row_for<A>(in.type);
  const StoreRow<A> store = store_row_for<A>(out.type);

  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t col = 0; col < out.extent.cols; col += kMixPixels) {
      const std::int64_t cols = std::min(kMixPixels, out.extent.cols - col);
      load(in.row_data(row) + col * in.pixel_bytes(), cols * in.channels, pixels.data());
      for (std::int64_t j = 0; j < in.channels; ++j) {
        for (std::int64_t i = 0; i < cols; ++i) planes[j * kMixPixels + i] = pixels[i * in.channels + j];
      }
      for (std::int64_t c = 0; c < out.channels; ++c) {
        const A offset = static_cast<A>(matrix.offsets[c]);
        mix_plane(&coefficients[c * in.channels], offset, planes.data(), in.channels, mixed.data());
        for (std::int64_t i = 0; i < cols; ++i) pixels[i * out.channels + c] = mixed[i];
      }
      store(pixels.data(), cols * out.channels, out.row_data(row) + col * out.pixel_bytes());
    }
  }
}

void mix_channels_f32(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out) {
  mix_channels<float>(matrix, in, out);
}
void mix_channels_f64(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out) {
  mix_channels<double>(matrix, in, out);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(mix_channels_f32);
HWY_EXPORT(mix_channels_f64);

void mix_channels_host(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                       Arithmetic arithmetic) {
  check_mix_channels(matrix, in, out);
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(mix_channels_f64)(matrix, in, out);
  } else {
    HWY_DYNAMIC_DISPATCH(mix_channels_f32)(matrix, in, out);
  }
}

}  // namespace sepconv
#endif
