#include "io/png/png_filters.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/png/png_filters.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::CappedTag<std::uint8_t, PngFilters::kRoom> kBytes;
using Bytes = hn::Vec<decltype(kBytes)>;

/// Bytes of a row and those that they are predicted from; `left` and `corner` are a pixel before.
struct Neighbours {
  Bytes here, left, above, corner;
};

/// As many bytes of what begins at `here` and `above` as a vector has, or the first `count`, and else zeros.
HWY_INLINE Neighbours load(const std::uint8_t* here, const std::uint8_t* above, std::int64_t pixel,
                           std::int64_t count) {
  const auto all = static_cast<std::int64_t>(hn::Lanes(kBytes));
  const auto first = hn::FirstN(kBytes, static_cast<std::size_t>(count));
  const auto bytes = [&](const std::uint8_t* from) {
    return count >= all ? hn::LoadU(kBytes, from) : hn::MaskedLoad(first, kBytes, from);
  };
  return {bytes(here), bytes(here - pixel), bytes(above), bytes(above - pixel)};
}

HWY_INLINE Bytes distance(Bytes a, Bytes b) { return hn::Sub(hn::Max(a, b), hn::Min(a, b)); }

/// Half of the sum, rounded down.
HWY_INLINE Bytes average(Bytes a, Bytes b) {
  return hn::Sub(hn::AverageRound(a, b), hn::And(hn::Xor(a, b), hn::Set(kBytes, 1)));
}

/// The nearest of the three to left + above - corner, from which they lie as far as the other two of them lie
/// apart; the third as far as both together, or their difference. A sum beyond 255 is never the smallest.
HWY_INLINE Bytes paeth(const Neighbours& at) {
  const Bytes by_left = distance(at.above, at.corner), by_above = distance(at.left, at.corner);
  const auto one_way = hn::Eq(hn::Max(at.above, at.corner), at.corner);
  const auto other_way = hn::Eq(hn::Max(at.left, at.corner), at.corner);
  const Bytes by_corner = hn::IfThenElse(hn::Xor(one_way, other_way), distance(by_left, by_above),
                                         hn::SaturatedAdd(by_left, by_above));
  const Bytes least = hn::Min(by_left, hn::Min(by_above, by_corner));
  return hn::IfThenElse(hn::Eq(by_left, least), at.left,
                        hn::IfThenElse(hn::Eq(by_above, least), at.above, at.corner));
}

template <int kKind>
HWY_INLINE Bytes filtered(const Neighbours& at) {
  if constexpr (kKind == 0) return at.here;
  if constexpr (kKind == 1) return hn::Sub(at.here, at.left);
  if constexpr (kKind == 2) return hn::Sub(at.here, at.above);
  if constexpr (kKind == 3) return hn::Sub(at.here, average(at.left, at.above));
  if constexpr (kKind == 4) return hn::Sub(at.here, paeth(at));
}

template <int kKind>
HWY_INLINE void filter(const std::uint8_t* here, const std::uint8_t* above, std::int64_t pixel,
                       std::int64_t count, std::uint8_t* to) {
  const auto step = static_cast<std::int64_t>(hn::Lanes(kBytes));
  for (std::int64_t i = 0; i < count; i += step)
    hn::StoreU(filtered<kKind>(load(here + i, above + i, pixel, count - i)), kBytes, to + i);
}

/// For bytes as differences: what they are apart from 0.
HWY_INLINE Bytes magnitude(Bytes difference) {
  return hn::Min(difference, hn::Sub(hn::Zero(kBytes), difference));
}

/// A sum of vectors' bytes.
#if HWY_TARGET == HWY_SCALAR
using Sum = std::uint64_t;
HWY_INLINE Sum no_sum() { return 0; }
HWY_INLINE Sum plus(Sum sum, Bytes bytes) { return sum + hn::GetLane(bytes); }
HWY_INLINE std::uint64_t total(Sum sum) { return sum; }
#else
const hn::Repartition<std::uint64_t, decltype(kBytes)> kWords;
using Sum = hn::Vec<decltype(kWords)>;
HWY_INLINE Sum no_sum() { return hn::Zero(kWords); }
HWY_INLINE Sum plus(Sum sum, Bytes bytes) { return hn::Add(sum, hn::SumsOf8(bytes)); }
HWY_INLINE std::uint64_t total(Sum sum) { return hn::GetLane(hn::SumOfLanes(kWords, sum)); }
#endif

}  // namespace

void filter_row(int kind, const std::uint8_t* here, const std::uint8_t* above, std::int64_t pixel,
                std::int64_t count, std::uint8_t* to) {
  switch (kind) {
    case 0:
      return filter<0>(here, above, pixel, count, to);
    case 1:
      return filter<1>(here, above, pixel, count, to);
    case 2:
      return filter<2>(here, above, pixel, count, to);
    case 3:
      return filter<3>(here, above, pixel, count, to);
    default:
      return filter<4>(here, above, pixel, count, to);
  }
}

/// The filter whose results have the smallest sum of magnitudes over `part` of every `step` bytes.
int best_filter(const std::uint8_t* here, const std::uint8_t* above, std::int64_t pixel, std::int64_t count,
                std::int64_t part, std::int64_t step) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kBytes));
  Sum none = no_sum(), left = none, up = none, both = none, nearest = none;
  for (std::int64_t first = 0; first < count; first += step) {
    const std::int64_t end = std::min(count, first + part);
    for (std::int64_t i = first; i < end; i += lanes) {
      const Neighbours at = load(here + i, above + i, pixel, end - i);
      none = plus(none, magnitude(filtered<0>(at)));
      left = plus(left, magnitude(filtered<1>(at)));
      up = plus(up, magnitude(filtered<2>(at)));
      both = plus(both, magnitude(filtered<3>(at)));
      nearest = plus(nearest, magnitude(filtered<4>(at)));
    }
  }
  const std::uint64_t sums[] = {total(none), total(left), total(up), total(both), total(nearest)};
  return static_cast<int>(std::min_element(std::begin(sums), std::end(sums)) - sums);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {
namespace {

HWY_EXPORT(filter_row);
HWY_EXPORT(best_filter);

/// Sums are taken of this many bytes, and in long rows of as many again after three times as many: a look at a
/// quarter chooses as well, but for 0.9 % of size at most (docs/measurements/2026-11-23-deflate.md).
constexpr std::int64_t kLook = 256;
constexpr std::int64_t kLongRow = 4 * kLook;

}  // namespace

PngFilters::PngFilters(std::int64_t row_bytes, std::int64_t pixel_bytes)
    : row_bytes_(row_bytes), pixel_bytes_(pixel_bytes) {
  for (auto& row : rows_) row.resize(static_cast<std::size_t>(pixel_bytes + row_bytes + kRoom));
}

void PngFilters::filter_to(std::byte* to) {
  const auto* const here = reinterpret_cast<const std::uint8_t*>(rows_[0].data() + pixel_bytes_);
  const auto* const above = reinterpret_cast<const std::uint8_t*>(rows_[1].data() + pixel_bytes_);
  const int best = HWY_DYNAMIC_DISPATCH(best_filter)(here, above, pixel_bytes_, row_bytes_, kLook,
                                                     row_bytes_ < kLongRow ? kLook : 4 * kLook);
  *to = static_cast<std::byte>(best);
  HWY_DYNAMIC_DISPATCH(filter_row)
  (best, here, above, pixel_bytes_, row_bytes_, reinterpret_cast<std::uint8_t*>(to + 1));
  std::swap(rows_[0], rows_[1]);
}

}  // namespace sepconv
#endif
