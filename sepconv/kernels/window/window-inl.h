// Windows of elements in memory, along rows and along columns, by windows of 1, 2, 4, .. elements. Included
// once per target.
#if defined(SEPCONV_WINDOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_INL_H
#undef SEPCONV_WINDOW_INL_H
#else
#define SEPCONV_WINDOW_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "sepconv/kernels/simd/vectors-inl.h"
#include "sepconv/kernels/window/window_check.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// What joins two windows to one. A window may count an element twice if that changes nothing.
struct Least {
  static constexpr bool kSums = false;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
};
struct Sum {
  static constexpr bool kSums = true;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

/// to[i] = join(a[i], b[i]), whole vectors; `to` may begin where `a` does, and `b` does not begin before.
template <class Join, class E>
HWY_INLINE void join_rows(const E* a, const E* b, std::int64_t count, E* to) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes)
    hn::StoreU(Join()(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i);
}

/// Two doublings at once: windows of four times as many elements.
template <class Join, class E>
HWY_INLINE void join_four(E* row, std::int64_t apart, std::int64_t count) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto low = Join()(hn::LoadU(d, row + i), hn::LoadU(d, row + i + apart));
    const auto high = Join()(hn::LoadU(d, row + i + 2 * apart), hn::LoadU(d, row + i + 3 * apart));
    hn::StoreU(Join()(low, high), d, row + i);
  }
}

/// The windows of a row: to[o] is of `steps.count` elements of `row`, `stride` apart, from o on, for o below
/// `count`. Destroys `row`, which is as long as that needs; both have room for a vector more.
template <class Join, class E>
void window_row(const WindowSteps& steps, std::int64_t stride, std::int64_t count, E* row, E* to) {
  const std::int64_t elements = count + (steps.count - 1) * stride;
  const E* part = nullptr;  // what has been joined of the window's end
  for (int k = 0; k < steps.levels; ++k) {
    const std::int64_t size = std::int64_t{1} << k;
    if (Join::kSums && steps.has(k)) {
      const E* const piece = row + (steps.count - steps.after(k) - size) * stride;
      part == nullptr ? void(std::copy_n(piece, count, to)) : join_rows<Join>(piece, to, count, to);
      part = to;
    }
    const bool four = k + 1 < steps.levels && !(Join::kSums && steps.has(k + 1));
    if (four) {
      join_four<Join>(row, size * stride, elements - (4 * size - 1) * stride);
      ++k;
    } else {
      join_rows<Join>(row, row + size * stride, elements - (2 * size - 1) * stride, row);
    }
  }
  if (!Join::kSums && steps.rest() > 0) part = row + steps.rest() * stride;
  part == nullptr ? void(std::copy_n(row, count, to)) : join_rows<Join>(row, part, count, to);
}

/// What a row going by meets of the windows of 2^k rows that ended so many rows ago: the one that is as old
/// as it is high, whose place it takes, and the one that continues what has been joined of the sum.
template <class E>
struct ColumnLevel {
  E* slot = nullptr;
  const E* piece = nullptr;
  bool begins_sum = false;
};

/// One row more: to[i] is of the last rows, as many as the window has, the newest of which is `row`. All are
/// whole blocks of kColumnVectors vectors.
constexpr int kColumnVectors = 4;

template <class Join, class E>
void window_columns(const ColumnLevel<E>* level, int levels, E* oldest, const E* row, std::int64_t count,
                    E* to) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += kColumnVectors * lanes) {
    hn::Vec<decltype(d)> v[kColumnVectors], part[kColumnVectors];
    SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) part[j] = v[j] =
        hn::LoadU(d, row + i + j * lanes);
    for (int k = 0; k < levels; ++k) {
      if (Join::kSums && level[k].begins_sum) {
        SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) part[j] = v[j];
      } else if (Join::kSums && level[k].piece != nullptr) {
        SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) part[j] =
            Join()(hn::Load(d, level[k].piece + i + j * lanes), part[j]);
      }
      E* const slot = level[k].slot + i;
      SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) {
        const auto older = hn::Load(d, slot + j * lanes);
        hn::Store(v[j], d, slot + j * lanes);
        v[j] = Join()(older, v[j]);
      }
    }
    if (oldest != nullptr) {
      SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) {
        const auto older = hn::Load(d, oldest + i + j * lanes);
        hn::Store(v[j], d, oldest + i + j * lanes);
        v[j] = Join()(older, Join::kSums ? part[j] : v[j]);
      }
    }
    SEPCONV_UNROLL for (int j = 0; j < kColumnVectors; ++j) hn::StoreU(v[j], d, to + i + j * lanes);
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
