// Means of pairs of neighbouring pixels, for pyramids. Included once per target.
#if defined(SEPCONV_RESAMPLE_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_RESAMPLE_PAIRS_INL_H
#undef SEPCONV_RESAMPLE_PAIRS_INL_H
#else
#define SEPCONV_RESAMPLE_PAIRS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "kernels/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Loads interleaved channels into one vector each.
template <int kChannels, class D, class T = hn::TFromD<D>>
HWY_INLINE void load_channels(D d, const T* from, hn::Vec<D> (&v)[4]) {
  if constexpr (kChannels == 1) v[0] = hn::LoadU(d, from);
  if constexpr (kChannels == 2) hn::LoadInterleaved2(d, from, v[0], v[1]);
  if constexpr (kChannels == 3) hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
  if constexpr (kChannels == 4) hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
}
template <int kChannels, class D, class T = hn::TFromD<D>>
HWY_INLINE void store_channels(D d, const hn::Vec<D> (&v)[4], T* to) {
  if constexpr (kChannels == 1) hn::StoreU(v[0], d, to);
  if constexpr (kChannels == 2) hn::StoreInterleaved2(v[0], v[1], d, to);
  if constexpr (kChannels == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, to);
  if constexpr (kChannels == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, to);
}
#endif

/// to[i] = fma(weight, pixels[2 i + 1], fma(weight, pixels[2 i], +0)), channel by channel, for i below
/// `pairs`, in whole vectors of pixels. Returns the number of pairs done.
template <int kChannels, class A>
std::int64_t add_pairs([[maybe_unused]] const A* pixels, [[maybe_unused]] std::int64_t pairs,
                       [[maybe_unused]] A weight, [[maybe_unused]] A* to) {
  std::int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, weight);
  for (; done + lanes <= pairs; done += lanes) {
    hn::Vec<decltype(d)> low[4], high[4];
    load_channels<kChannels>(d, pixels + 2 * done * kChannels, low);
    load_channels<kChannels>(d, pixels + (2 * done + lanes) * kChannels, high);
    SEPCONV_UNROLL
    for (int c = 0; c < kChannels; ++c) {
      const auto first = fused_multiply_add(factor, hn::ConcatEven(d, high[c], low[c]), hn::Zero(d));
      low[c] = fused_multiply_add(factor, hn::ConcatOdd(d, high[c], low[c]), first);
    }
    store_channels<kChannels>(d, low, to + done * kChannels);
  }
#endif
  return done;
}

/// A row pass of means of pairs, including the last pixel of an odd width.
template <class A>
void pair_row(const A* pixels, std::int64_t cols, std::int64_t channels, A* to) {
  constexpr A kHalf = 0.5;
  const std::int64_t pairs = cols / 2;
  std::int64_t col = channels == 1   ? add_pairs<1>(pixels, pairs, kHalf, to)
                     : channels == 2 ? add_pairs<2>(pixels, pairs, kHalf, to)
                     : channels == 3 ? add_pairs<3>(pixels, pairs, kHalf, to)
                     : channels == 4 ? add_pairs<4>(pixels, pairs, kHalf, to)
                                     : 0;
  for (; 2 * col < cols; ++col) {
    const A* const left = pixels + 2 * col * channels;
    for (std::int64_t c = 0; c < channels; ++c)
      to[col * channels + c] = 2 * col + 1 < cols
                                   ? std::fma(kHalf, left[channels + c], std::fma(kHalf, left[c], A(0)))
                                   : left[c] + A(0);
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
