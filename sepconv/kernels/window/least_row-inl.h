// Windows of the least along a row, wider than vectors: the elements of a vector are first doubled to windows
// of as many, and then vectors side by side are what rows below each other are down columns. Included once
// per target.
#if defined(SEPCONV_WINDOW_LEAST_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_LEAST_ROW_INL_H
#undef SEPCONV_WINDOW_LEAST_ROW_INL_H
#else
#define SEPCONV_WINDOW_LEAST_ROW_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "sepconv/kernels/window/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// row[i] becomes the least of as many elements from i on, `stride` apart, as a vector has.
template <class E>
void double_to_vectors(std::int64_t stride, std::int64_t elements, E* row) {
  const int levels = static_cast<int>(hwy::FloorLog2(hn::Lanes(hn::ScalableTag<E>())));
  for (int k = 0; k < levels;)
    k += join_some<Least>(row, k, levels - k, stride, elements - ((std::int64_t{1} << k) - 1) * stride);
}

/// Every `stride`-th vector of `row`, `count` of them: to[t] = the least of `block` of these from t on and of
/// the one that begins `last` elements behind it. By van Herk's and Gil and Werman's blocks.
template <class E>
HWY_INLINE void join_vectors(const E* row, std::int64_t stride, std::int64_t count, std::int64_t block,
                             std::int64_t last, E* to) {
  const hn::ScalableTag<E> d;
  const std::int64_t step = stride * static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t begin = 0; begin < count; begin += block, row += block * step, to += block * step) {
    const std::int64_t some = std::min(block, count - begin);
    auto end = hn::Load(d, row + (block - 1) * step);
    for (std::int64_t t = block - 1; t >= some; --t) end = hn::Min(end, hn::Load(d, row + t * step));
    for (std::int64_t t = some - 1; t >= 0; --t) {
      end = hn::Min(end, hn::Load(d, row + t * step));
      hn::Store(hn::Min(end, hn::LoadU(d, row + t * step + last)), d, to + t * step);
    }
    if (some == 1) continue;
    const E* const next = row + (block - 1) * step;
    auto beginning = hn::Load(d, next + step);
    for (std::int64_t t = 1; t < some; ++t) {
      beginning = hn::Min(beginning, hn::Load(d, next + t * step));
      hn::Store(hn::Min(beginning, hn::Load(d, to + t * step)), d, to + t * step);
    }
  }
}

/// As window_row(). `row` begins where a vector does not mind.
template <class E>
void least_row(const WindowSteps& steps, std::int64_t stride, std::int64_t count, E* row, E* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<E>()));
  const std::int64_t block = steps.count / lanes;
  if (block < 2) return window_row<Least>(steps, stride, count, row, to);
  double_to_vectors(stride, count + (steps.count - 1) * stride, row);
  const std::int64_t vectors = (count + lanes - 1) / lanes;
  for (std::int64_t first = 0; first < std::min(stride, vectors); ++first)
    join_vectors(row + first * lanes, stride, (vectors - first + stride - 1) / stride, block,
                 (steps.count - lanes) * stride, to + first * lanes);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
