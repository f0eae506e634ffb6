// Minima of windows along a row. For windows wider than two vectors, elements are first doubled to windows of
// as many elements as a vector has; adjacent vectors are then processed like rows of a column pass. Included
// once per target.
#if defined(SEPCONV_WINDOW_LEAST_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_LEAST_ROW_INL_H
#undef SEPCONV_WINDOW_LEAST_ROW_INL_H
#else
#define SEPCONV_WINDOW_LEAST_ROW_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/sliding_window/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Replaces row[i] by the minimum of as many elements from i on, `stride` apart, as a vector has.
template <class E>
void prefix_double(std::int64_t stride, std::int64_t elements, E* row) {
  const int levels = static_cast<int>(hwy::FloorLog2(hn::Lanes(hn::ScalableTag<E>())));
  for (int k = 0; k < levels;)
    k += combine_n<Minimum>(row, k, levels - k, stride, elements - ((std::int64_t{1} << k) - 1) * stride);
}

/// For every `stride`-th vector t of a row, t < count: to[t] = the minimum of `block` vectors from t on and
/// of the one that begins `last` elements after t. Uses the blocks of van Herk and of Gil and Werman, from
/// the last to the first. vector(t) returns a vector and stores it in `row`; it is called once for each t.
template <class E, class Vector>
HWY_INLINE void van_herk_blocks(const E* row, std::int64_t stride, std::int64_t count, std::int64_t block,
                                std::int64_t last, E* to, const Vector& vector) {
  const hn::ScalableTag<E> d;
  const std::int64_t step = stride * static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t begin = (count - 1) / block * block; begin >= 0; begin -= block) {
    const std::int64_t end = std::min(begin + block, count);
    std::int64_t t = begin + block - 1;
    auto minimum = vector(t);
    while (t > end) minimum = hn::Min(minimum, vector(--t));
    if (t < end) hn::Store(minimum, d, to + t * step);
    while (--t >= begin) {
      minimum = hn::Min(minimum, vector(t));
      hn::Store(minimum, d, to + t * step);
    }
    // A window's last vector overlaps two that are already stored.
    const auto joined = [&](std::int64_t at) {
      return hn::Min(hn::Load(d, to + at * step), hn::LoadU(d, row + at * step + last));
    };
    hn::Store(joined(begin), d, to + begin * step);
    if (begin + 1 == end) continue;
    minimum = hn::Load(d, row + (begin + block) * step);
    for (t = begin + 1; t < end; ++t) {
      minimum = hn::Min(minimum, hn::Load(d, row + (t + block - 1) * step));
      hn::Store(hn::Min(minimum, joined(t)), d, to + t * step);
    }
  }
}

/// window_row() for minima. Rows are vector-aligned.
template <class E>
void min_row(const WindowSteps& steps, std::int64_t stride, std::int64_t count, E* row, E* to) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t block = steps.count / lanes;
  if (block < 2) return window_row<Minimum>(steps, stride, count, row, to);
  prefix_double(stride, count + (steps.count - 1) * stride, row);
  const std::int64_t vectors = (count + lanes - 1) / lanes;
  for (std::int64_t first = 0; first < std::min(stride, vectors); ++first) {
    const E* const column_vectors = row + first * lanes;
    van_herk_blocks(column_vectors, stride, (vectors - first + stride - 1) / stride, block,
                    (steps.count - lanes) * stride, to + first * lanes,
                    [&](std::int64_t t) { return hn::Load(d, column_vectors + t * stride * lanes); });
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/// Whether min_pixels() is available.
constexpr bool kMinInRegisters = true;

/// Loads pixels once. Compilers would load them again for each use, which is slower if they cross cache
/// lines.
template <class D, class E>
HWY_INLINE hn::Vec<D> load_once(D d, const E* from) {
  auto v = hn::LoadU(d, from);
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+v"(v.raw));
#endif
  return v;
}

template <class E>
constexpr int kVectorLevels = std::bit_width(static_cast<unsigned>(hn::MaxLanes(hn::ScalableTag<E>()))) - 1;

/// Replaces the vectors of a row, called from the last to the first, by windows of 2^kLevels elements.
template <class E, int kLevels>
class Doubling {
 public:
  using V = hn::Vec<hn::ScalableTag<E>>;
  HWY_INLINE V operator()(V v) { return doubled(v, std::make_integer_sequence<int, kLevels>()); }

 private:
  template <int... kLevel>
  HWY_INLINE V doubled(V v, std::integer_sequence<int, kLevel...>) {
    const auto double_once = [&]<int kStep>(std::integral_constant<int, kStep>) {
      const V current = v;
      v = hn::Min(current, shifted<1 << kStep>(current, next_[kStep]));
      next_[kStep] = current;
    };
    (double_once(std::integral_constant<int, kLevel>()), ...);
    return v;
  }

  V next_[std::max(kLevels, 1)] = {};
};

/// Windows of a row of pixels, which elements.element() converts; other arguments as for window_row(), with
/// `row` as scratch. Reads whole vectors of pixels and prefetches one cache line of `prefetched` with each,
/// because a processor tracks only a few outstanding loads.
template <int kLevels, class E, class Elements>
void narrow_pixels(Elements elements, WindowSteps steps, std::int64_t count, const E* pixels,
                   const std::byte* prefetched, E* row, E* to) {
  const hn::ScalableTag<E> d;
  using Bits = hwy::MakeSigned<E>;
  const hn::ScalableTag<Bits> bits;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto shift = hn::Iota(bits, static_cast<Bits>(steps.rest()));
  // A window's end is a window of the same size, `rest` elements further. It is in registers except for
  // bytes.
  constexpr bool kRestInRegisters = sizeof(E) > 1 || kLevels < 2;
  Doubling<E, kLevels> doubling;
  auto next = hn::Zero(d);
  const auto vector = [&](std::int64_t i) {
    hwy::Prefetch(prefetched + i * static_cast<std::int64_t>(sizeof(E)));
    return doubling(elements.element(d, load_once(d, pixels + i)));
  };
  std::int64_t i = (count + steps.count - 2) / lanes * lanes;
  for (; i >= count; i -= lanes) {
    next = vector(i);
    if constexpr (!kRestInRegisters) hn::Store(next, d, row + i);
  }
  for (; i >= 0; i -= lanes) {
    const auto v = vector(i);
    if constexpr (!kRestInRegisters) {
      hn::Store(v, d, row + i);
    } else if constexpr (kLevels == 0) {
      hn::Store(v, d, to + i);
    } else if constexpr (kLevels == 1) {
      hn::Store(hn::Min(v, shifted<1>(v, next)), d, to + i);
    } else {
      const auto rest = lanes_of<E>(hn::BitCast(bits, v), shift, hn::BitCast(bits, next));
      hn::Store(hn::Min(v, hn::BitCast(d, rest)), d, to + i);
    }
    next = v;
  }
  if constexpr (!kRestInRegisters) join_rows<Minimum>(row, row + steps.rest(), count, to);
}

/// Windows of two to eight vectors, joined from pairs of vectors.
template <class E, class Elements>
void middle_pixels(Elements elements, WindowSteps steps, std::int64_t count, const E* pixels,
                   const std::byte* prefetched, E* row, E* to) {
  const hn::ScalableTag<E> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  Doubling<E, kVectorLevels<E>> doubling;
  auto next = hn::Zero(d);
  for (std::int64_t i = (count + steps.count - 2) / kLanes * kLanes; i >= 0; i -= kLanes) {
    hwy::Prefetch(prefetched + i * static_cast<std::int64_t>(sizeof(E)));
    const auto v = doubling(elements.element(d, load_once(d, pixels + i)));
    hn::Store(hn::Min(v, next), d, row + i);
    next = v;
  }
  const std::int64_t last = steps.count - 2 * kLanes;
  for (std::int64_t i = 0; i < count; i += kLanes) {
    auto minimum = hn::Min(hn::Load(d, row + i), hn::LoadU(d, row + i + last));
    for (std::int64_t at = 2 * kLanes; at < last; at += 2 * kLanes)
      minimum = hn::Min(minimum, hn::Load(d, row + i + at));
    hn::Store(minimum, d, to + i);
  }
}

template <class E, class Elements>
void wide_pixels(Elements elements, WindowSteps steps, std::int64_t count, const E* pixels,
                 const std::byte* prefetched, E* row, E* to) {
  const hn::ScalableTag<E> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  constexpr std::int64_t kVectorBytes = kLanes * static_cast<std::int64_t>(sizeof(E));
  Doubling<E, kVectorLevels<E>> doubling;
  const auto vector = [&](std::int64_t t) {
    hwy::Prefetch(prefetched + t * kVectorBytes);
    const auto v = doubling(elements.element(d, load_once(d, pixels + t * kLanes)));
    hn::Store(v, d, row + t * kLanes);
    return v;
  };
  const std::int64_t block = steps.count / kLanes, vectors = (count + kLanes - 1) / kLanes;
  std::int64_t t = (count + steps.count - 2) / kLanes;
  for (const std::int64_t end = (vectors - 1) / block * block + block; t >= end; --t) vector(t);
  van_herk_blocks(row, 1, vectors, block, steps.count - kLanes, to, vector);
}

template <class E, class Elements>
void min_pixels(Elements elements, WindowSteps steps, std::int64_t count, const E* pixels,
                const std::byte* prefetched, E* row, E* to) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<E>()));
  const auto narrow = [&]<int kLevels>(std::integral_constant<int, kLevels>) {
    if constexpr (1 << kLevels <= kLanes)
      narrow_pixels<kLevels>(elements, steps, count, pixels, prefetched, row, to);
  };
  if (steps.count >= 8 * kLanes) return wide_pixels(elements, steps, count, pixels, prefetched, row, to);
  if (steps.count >= 2 * kLanes) return middle_pixels(elements, steps, count, pixels, prefetched, row, to);
  switch (steps.levels) {
    case 0:
      return narrow(std::integral_constant<int, 0>());
    case 1:
      return narrow(std::integral_constant<int, 1>());
    case 2:
      return narrow(std::integral_constant<int, 2>());
    case 3:
      return narrow(std::integral_constant<int, 3>());
    case 4:
      return narrow(std::integral_constant<int, 4>());
    case 5:
      return narrow(std::integral_constant<int, 5>());
    default:
      return narrow(std::integral_constant<int, 6>());
  }
}

#else

constexpr bool kMinInRegisters = false;

#endif

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
