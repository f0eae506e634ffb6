// Means of 2 x 2 integers, for pyramids. Included once per target.
#if defined(SEPCONV_RESAMPLE_HALVES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_RESAMPLE_HALVES_INL_H
#undef SEPCONV_RESAMPLE_HALVES_INL_H
#else
#define SEPCONV_RESAMPLE_HALVES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/resample/average_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Sums of the two neighbours in each lane of twice the width.
template <class W>
HWY_INLINE hn::Vec<W> sums_of_pairs(W wide, hn::Vec<W> pairs) {
  using T = hn::TFromD<W>;
  constexpr int kBits = static_cast<int>(4 * sizeof(T));
  const auto low = std::is_signed_v<T>
                       ? hn::ShiftRight<kBits>(hn::ShiftLeft<kBits>(pairs))
                       : hn::And(pairs, hn::Set(wide, static_cast<T>((std::uint64_t{1} << kBits) - 1)));
  return hn::Add(low, hn::ShiftRight<kBits>(pairs));
}
#endif

/// sum / 4, rounded half to even.
template <class V>
V quarter_of(V sum) {
  return static_cast<V>((sum + 1 + (sum >> 2 & 1)) >> 2);
}

/// Means of 2 x 2 integers for `pairs` pairs of columns, in whole vectors of pixels. Returns the number of
/// pairs done. Sums of four are exact in any arithmetic, so all implementations give the same bits.
template <int kChannels, class T>
std::int64_t halve_pairs([[maybe_unused]] const T* upper, [[maybe_unused]] const T* lower,
                         [[maybe_unused]] std::int64_t pairs, [[maybe_unused]] T* to) {
  std::int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::RebindToSigned<decltype(wide)> whole;
  const hn::Rebind<T, decltype(wide)> half;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  const auto one = hn::Set(wide, 1);
  for (; done + lanes <= pairs; done += lanes) {
    hn::Vec<decltype(d)> above[4], below[4];
    hn::Vec<decltype(half)> means[4];
    load_channels<kChannels>(d, upper + 2 * done * kChannels, above);
    load_channels<kChannels>(d, lower + 2 * done * kChannels, below);
    SEPCONV_UNROLL
    for (int c = 0; c < kChannels; ++c) {
      const auto sum = hn::Add(sums_of_pairs(wide, hn::BitCast(wide, above[c])),
                               sums_of_pairs(wide, hn::BitCast(wide, below[c])));
      const auto odd = hn::And(hn::ShiftRight<2>(sum), one);
      const auto mean = hn::ShiftRight<2>(hn::Add(hn::Add(sum, one), odd));
      means[c] = hn::DemoteTo(half, hn::BitCast(whole, mean));
    }
    store_channels<kChannels>(half, means, to + done * kChannels);
  }
#endif
  return done;
}

/// Means of 2 x 2 pixels of two rows, including the last column of an odd width.
template <class T>
void halve_row(const T* upper, const T* lower, std::int64_t cols, std::int64_t channels, T* to) {
  const std::int64_t pairs = cols / 2;
  std::int64_t col = channels == 1   ? halve_pairs<1>(upper, lower, pairs, to)
                     : channels == 2 ? halve_pairs<2>(upper, lower, pairs, to)
                     : channels == 3 ? halve_pairs<3>(upper, lower, pairs, to)
                     : channels == 4 ? halve_pairs<4>(upper, lower, pairs, to)
                                     : 0;
  for (; 2 * col < cols; ++col) {
    const std::int64_t left = 2 * col * channels;
    const std::int64_t right = 2 * col + 1 < cols ? left + channels : left;
    for (std::int64_t c = 0; c < channels; ++c) {
      const int sum = upper[left + c] + upper[right + c] + lower[left + c] + lower[right + c];
      to[col * channels + c] = static_cast<T>(quarter_of(sum));
    }
  }
}

/// Means of rows and columns in pairs. An unpaired last one counts twice, which gives the same mean.
template <class T>
void halve(const ConstRegion& in, const Region& out, Worker& worker) {
  for (std::int64_t row = 0; row < out.rect.rows; ++row) {
    if (row % 16 == 0) worker.throw_if_stopped();
    const std::int64_t upper = 2 * (out.rect.row + row);
    const std::int64_t lower = std::min(upper + 1, in.image.rows - 1);
    const std::int64_t col = 2 * out.rect.col;
    const Rect pixels{0, col - in.rect.col, in.rect.rows, std::min(2 * out.rect.cols, in.image.cols - col)};
    const ConstPixelView view = in.pixels.crop(pixels);
    halve_row(view.row<T>(upper - in.rect.row), view.row<T>(lower - in.rect.row), pixels.cols, view.channels,
              out.pixels.row<T>(row));
  }
}

void halve_integers(const ConstRegion& in, const Region& out, Worker& worker) {
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) halve<T>(in, out, worker);
  });
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
