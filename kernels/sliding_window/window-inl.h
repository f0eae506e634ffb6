// Windows along rows of elements in memory, joined from windows of 1, 2, 4, ... elements. Included once per
// target.
#if defined(SEPCONV_WINDOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_WINDOW_INL_H
#undef SEPCONV_WINDOW_INL_H
#else
#define SEPCONV_WINDOW_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/simd/vectors-inl.h"
#include "kernels/sliding_window/window_check.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Operations that join two windows. Minima may include an element twice.
struct Minimum {
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

/// to[i] = join(a[i], b[i]), whole vectors. `to` may equal `a`; `b` does not begin before it.
template <class Join, class E>
HWY_INLINE void join_rows(const E* a, const E* b, std::int64_t count, E* to) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes)
    hn::StoreU(Join()(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i);
}

/// Doubles the windows of a row twice.
template <class Join, class E>
HWY_INLINE void join_twice(E* row, std::int64_t distance, std::int64_t count) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto low = Join()(hn::LoadU(d, row + i), hn::LoadU(d, row + i + distance));
    const auto high = Join()(hn::LoadU(d, row + i + 2 * distance), hn::LoadU(d, row + i + 3 * distance));
    hn::StoreU(Join()(low, high), d, row + i);
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

/// Whether join_levels() supports these elements.
template <class E>
constexpr bool kShiftsInRegisters = sizeof(E) > 1;

/// Whether sum_to_vectors() supports these elements.
template <class E>
constexpr bool kSumsInRegisters = sizeof(E) > 2;

/// The lanes with indices `lanes` of the concatenation of `low` and `high`.
template <class E, class V>
HWY_INLINE V lanes_of(V low, V lanes, V high) {
  if constexpr (sizeof(E) == 2) return V{_mm512_permutex2var_epi16(low.raw, lanes.raw, high.raw)};
  if constexpr (sizeof(E) == 4) return V{_mm512_permutex2var_epi32(low.raw, lanes.raw, high.raw)};
  if constexpr (sizeof(E) == 8) return V{_mm512_permutex2var_epi64(low.raw, lanes.raw, high.raw)};
}

/// The lanes from kFirst on of the concatenation of `low` and `high`.
template <int kFirst, class V>
HWY_INLINE V shifted(V low, V high) {
  using Bits = hwy::MakeSigned<hn::TFromV<V>>;
  constexpr int kBytes = kFirst * static_cast<int>(sizeof(Bits));
  const hn::ScalableTag<Bits> bits;
  const auto first = hn::BitCast(bits, low).raw, second = hn::BitCast(bits, high).raw;
  const auto bytes_shifted = [&]() {
    if constexpr (kBytes % 4 == 0) return _mm512_alignr_epi32(second, first, kBytes / 4);
    if constexpr (kBytes % 4 != 0)
      return _mm512_alignr_epi8(_mm512_alignr_epi32(second, first, 4), first, kBytes);
  }();
  return hn::BitCast(hn::DFromV<V>(), hn::Vec<decltype(bits)>{bytes_shifted});
}

/// Replaces `row` by windows of as many elements as a vector has, and sets to[o] to the sum of the elements
/// at a window's end that do not fill a vector. Returns the number of doublings.
template <class E>
int sum_to_vectors(const WindowSteps& steps, std::int64_t count, E* row, E* to) {
  const hn::ScalableTag<E> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  constexpr int kLevels = std::bit_width(static_cast<unsigned>(kLanes)) - 1;
  const std::int64_t whole = steps.count / kLanes * kLanes;
  hn::Vec<decltype(d)> next[kLevels] = {}, next_parts[kLevels] = {}, part = hn::Zero(d);
  const auto double_once = [&]<int kLevel>(std::integral_constant<int, kLevel>, auto& v) {
    if (steps.has(kLevel)) {
      const auto rest = part;
      part = steps.after(kLevel) == 0 ? v : hn::Add(v, shifted<1 << kLevel>(rest, next_parts[kLevel]));
      next_parts[kLevel] = rest;
    }
    const auto current = v;
    v = hn::Add(current, shifted<1 << kLevel>(current, next[kLevel]));
    next[kLevel] = current;
  };
  for (std::int64_t i = (count + steps.count - 2) / kLanes * kLanes; i >= 0; i -= kLanes) {
    auto v = hn::Load(d, row + i);
    [&]<int... kLevel>(std::integer_sequence<int, kLevel...>) {
      (double_once(std::integral_constant<int, kLevel>(), v), ...);
    }
    (std::make_integer_sequence<int, kLevels>());
    hn::Store(v, d, row + i);
    if (i >= whole && i < whole + count) hn::StoreU(part, d, to + i - whole);
  }
  return kLevels;
}

/// kLevels doublings in one pass, from windows of 2^first elements on, with neighbours from registers,
/// because unaligned loads take twice as long. 2^(first + kLevels) is at most the number of lanes.
template <int kLevels, class Join, class E>
HWY_INLINE void join_levels(E* row, int first, std::int64_t count) {
  using Bits = hwy::MakeSigned<E>;
  const hn::ScalableTag<E> d;
  const hn::ScalableTag<Bits> bits;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(bits)> shift[kLevels], next[kLevels];
  for (int l = 0; l < kLevels; ++l) {
    shift[l] = hn::Iota(bits, static_cast<Bits>(1 << (first + l)));
    next[l] = hn::Zero(bits);
  }
  for (std::int64_t i = (count - 1) / lanes * lanes; i >= 0; i -= lanes) {
    auto v = hn::Load(d, row + i);
    SEPCONV_UNROLL for (int l = 0; l < kLevels; ++l) {
      const auto current = hn::BitCast(bits, v);
      v = Join()(v, hn::BitCast(d, lanes_of<E>(current, shift[l], next[l])));
      next[l] = current;
    }
    hn::Store(v, d, row + i);
  }
}

/// As many of `levels` doublings as fit a vector; returns their number.
template <class Join, class E>
HWY_INLINE int join_in_registers(E* row, int first, int levels, std::int64_t count) {
  switch (std::min(levels, static_cast<int>(hwy::FloorLog2(hn::Lanes(hn::ScalableTag<E>()))) - first)) {
    case 1:
      return join_levels<1, Join>(row, first, count), 1;
    case 2:
      return join_levels<2, Join>(row, first, count), 2;
    case 3:
      return join_levels<3, Join>(row, first, count), 3;
    case 4:
      return join_levels<4, Join>(row, first, count), 4;
    case 5:
      return join_levels<5, Join>(row, first, count), 5;
    default:
      return 0;
  }
}

#else

template <class E>
constexpr bool kShiftsInRegisters = false;
template <class E>
constexpr bool kSumsInRegisters = false;
template <class E>
int sum_to_vectors(const WindowSteps&, std::int64_t, E*, E*);
template <class Join, class E>
HWY_INLINE int join_in_registers(E*, int, int, std::int64_t) {
  return 0;
}

#endif

/// Doubles the windows of 2^k elements, `stride` apart, as often as is fastest in one pass, at most
/// `max_doublings` times; returns how often.
template <class Join, class E>
HWY_INLINE int combine_n(E* row, int k, int max_doublings, std::int64_t stride, std::int64_t elements) {
  if (kShiftsInRegisters<E> && stride == 1) {
    const int joined = join_in_registers<Join>(row, k, max_doublings, elements);
    if (joined > 0) return joined;
  }
  const std::int64_t distance = stride << k;
  if (max_doublings > 1) return join_twice<Join>(row, distance, elements - 3 * distance), 2;
  return join_rows<Join>(row, row + distance, elements - distance, row), 1;
}

/// The windows of a row: to[o] joins `steps.count` elements of `row`, `stride` apart, from o on, for o <
/// count. Destroys `row`; both have space for one vector more.
template <class Join, class E>
void window_row(const WindowSteps& steps, std::int64_t stride, std::int64_t count, E* row, E* to) {
  const std::int64_t elements = count + (steps.count - 1) * stride;
  const E* part = nullptr;  // the joined end of the windows
  int k = 0;
  if constexpr (Join::kSums && kSumsInRegisters<E>) {
    if (stride == 1 && steps.count % 2 != 0) {
      k = sum_to_vectors(steps, count, row, to);
      if (k > steps.levels) return;
      part = to;
    }
  }
  while (k < steps.levels) {
    const std::int64_t size = std::int64_t{1} << k;
    if (Join::kSums && steps.has(k)) {
      const E* const piece = row + (steps.count - steps.after(k) - size) * stride;
      part == nullptr ? void(std::copy_n(piece, count, to)) : join_rows<Join>(piece, to, count, to);
      part = to;
    }
    int max_doublings = 1;  // doublings without a piece in between
    while (k + max_doublings < steps.levels && !(Join::kSums && steps.has(k + max_doublings)))
      ++max_doublings;
    k += combine_n<Join>(row, k, max_doublings, stride, elements - (size - 1) * stride);
  }
  if (!Join::kSums && steps.rest() > 0) part = row + steps.rest() * stride;
  part == nullptr ? void(std::copy_n(row, count, to)) : join_rows<Join>(row, part, count, to);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
