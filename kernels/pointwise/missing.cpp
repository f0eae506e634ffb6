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

#ifndef SEPCONV_MISSING_PRESENCE
#define SEPCONV_MISSING_PRESENCE
namespace sepconv {

struct Presence {
  bool missing = false;
  bool present = false;
  bool both() const noexcept { return missing && present; }
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

/// Tests several vectors per step, so that the result is checked less often.
template <class T>
void scan_row(const T* values, std::int64_t count, T missing, Presence& presence) {
  constexpr std::int64_t kVectors = 8;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto missing_vector = hn::Set(d, missing);
  std::int64_t i = 0;
  for (; i + kVectors * lanes <= count && !presence.both(); i += kVectors * lanes) {
    auto any = missing_in(d, values + i, missing_vector);
    auto all = any;
    for (std::int64_t k = 1; k < kVectors; ++k) {
      const auto is_missing = missing_in(d, values + i + k * lanes, missing_vector);
      any = hn::Or(any, is_missing);
      all = hn::And(all, is_missing);
    }
    presence.missing = presence.missing || !hn::AllFalse(d, any);
    presence.present = presence.present || !hn::AllTrue(d, all);
  }
  for (; i < count && !presence.both(); ++i) {
    const bool is_missing = values[i] == missing || values[i] != values[i];
    presence.missing = presence.missing || is_missing;
    presence.present = presence.present || !is_missing;
  }
}

Presence scan(const ConstPixelView& pixels, double missing) {
  return visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    Presence presence;
    for (std::int64_t row = 0; row < pixels.extent.rows && !presence.both(); ++row)
      scan_row(pixels.row<T>(row), pixels.row_elements(), static_cast<T>(missing), presence);
    return presence;
  });
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(scan);

namespace {

bool can_represent(PixelType type, double value) {
  return visit_pixel_type(type, [value]<class T>(std::type_identity<T>) {
    return std::is_floating_point_v<T> || (value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                                           value <= static_cast<double>(std::numeric_limits<T>::max()) &&
                                           static_cast<double>(static_cast<T>(value)) == value);
  });
}

}  // namespace

MissingState find_missing_state(const ConstPixelView& pixels, double missing) {
  if (!can_represent(pixels.type, missing)) return MissingState::none_missing;
  const Presence presence = HWY_DYNAMIC_DISPATCH(scan)(pixels, missing);
  return !presence.missing  ? MissingState::none_missing
         : presence.present ? MissingState::some_missing
                            : MissingState::all_missing;
}

void fill_pixels(const PixelView& pixels, double value) {
  visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < pixels.extent.rows; ++row)
      std::fill_n(pixels.row<T>(row), pixels.row_elements(), static_cast<T>(value));
  });
}

}  // namespace sepconv
#endif
