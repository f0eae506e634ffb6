#include "kernels/pointwise/missing.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/missing.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/vectors-inl.h"

#ifndef SEPCONV_MISSING_SEEN
#define SEPCONV_MISSING_SEEN
namespace sepconv {

struct Seen {
  bool missing = false;
  bool there = false;
  bool both() const noexcept { return missing && there; }
};

}  // namespace sepconv
#endif

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Mask<D> missing_in(D d, const T* values, hn::Vec<D> missing) {
  const auto v = hn::LoadU(d, values);
  const auto same = hn::Eq(v, missing);
  if constexpr (std::is_floating_point_v<T>) return hn::Or(same, hn::Not(hn::Eq(v, v)));
  return same;
}

/// Several vectors at a time, so that what was seen is asked seldom.
template <class T>
void look(const T* values, std::int64_t count, T missing, Seen& seen) {
  constexpr std::int64_t kVectors = 8;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto wanted = hn::Set(d, missing);
  std::int64_t i = 0;
  for (; i + kVectors * lanes <= count && !seen.both(); i += kVectors * lanes) {
    auto any = missing_in(d, values + i, wanted);
    auto all = any;
    for (std::int64_t k = 1; k < kVectors; ++k) {
      const auto one = missing_in(d, values + i + k * lanes, wanted);
      any = hn::Or(any, one);
      all = hn::And(all, one);
    }
    seen.missing = seen.missing || !hn::AllFalse(d, any);
    seen.there = seen.there || !hn::AllTrue(d, all);
  }
  for (; i < count && !seen.both(); ++i) {
    const bool one = values[i] == missing || values[i] != values[i];
    seen.missing = seen.missing || one;
    seen.there = seen.there || !one;
  }
}

Seen look_at(const ConstPixelView& pixels, double missing) {
  return visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    Seen seen;
    for (std::int64_t row = 0; row < pixels.extent.rows && !seen.both(); ++row)
      look(pixels.row<T>(row), pixels.row_elements(), static_cast<T>(missing), seen);
    return seen;
  });
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(look_at);

namespace {

bool can_hold(PixelType type, double value) {
  return visit_pixel_type(type, [value]<class T>(std::type_identity<T>) {
    return std::is_floating_point_v<T> || (value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                                           value <= static_cast<double>(std::numeric_limits<T>::max()) &&
                                           static_cast<double>(static_cast<T>(value)) == value);
  });
}

}  // namespace

ValidMask presence_of(const ConstPixelView& pixels, double missing) {
  if (!can_hold(pixels.type, missing)) return ValidMask::all_there;
  const Seen seen = HWY_DYNAMIC_DISPATCH(look_at)(pixels, missing);
  return !seen.missing ? ValidMask::all_there : seen.there ? ValidMask::some_missing : ValidMask::all_missing;
}

void fill_pixels(const PixelView& pixels, double value) {
  visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < pixels.extent.rows; ++row)
      std::fill_n(pixels.row<T>(row), pixels.row_elements(), static_cast<T>(value));
  });
}

}  // namespace sepconv
#endif
