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

/// Bytes of a row and their neighbours for prediction. `left` and `corner` are one pixel to the left.
struct Neighbours {
  Bytes current, left, above, corner;
};

/// Loads a vector at `current` and `above`; only the first `count` bytes if it has more, followed by zeros.
HWY_INLINE Neighbours load(const std::uint8_t* current, const std::uint8_t* above, std::int64_t pixel_bytes,
                           std::int64_t count) {
  const auto all = static_cast<std::int64_t>(hn::Lanes(kBytes));
  const auto first = hn::FirstN(kBytes, static_cast<std::size_t>(count));
  const auto bytes = [&](const std::uint8_t* from) {
    return count >= all ? hn::LoadU(kBytes, from) : hn::MaskedLoad(first, kBytes, from);
  };
  return {bytes(current), bytes(current - pixel_bytes), bytes(above), bytes(above - pixel_bytes)};
}

HWY_INLINE Bytes distance(Bytes a, Bytes b) { return hn::Sub(hn::Max(a, b), hn::Min(a, b)); }

/// (a + b) / 2, rounded down.
HWY_INLINE Bytes average(Bytes a, Bytes b) {
  return hn::Sub(hn::AverageRound(a, b), hn::And(hn::Xor(a, b), hn::Set(kBytes, 1)));
}

/// Paeth predictor: the neighbour nearest to left + above - corner. The distance of `left` is |above -
/// corner|, that of `above` is |left - corner|. The distance of `corner` is the sum of both, or their
/// difference. A sum above 255 is never the minimum.
HWY_INLINE Bytes paeth(const Neighbours& neighbours) {
  const Bytes left_distance = distance(neighbours.above, neighbours.corner),
              above_distance = distance(neighbours.left, neighbours.corner);
  const auto corner_is_max_above = hn::Eq(hn::Max(neighbours.above, neighbours.corner), neighbours.corner);
  const auto corner_is_max_left = hn::Eq(hn::Max(neighbours.left, neighbours.corner), neighbours.corner);
  const Bytes corner_distance = hn::IfThenElse(hn::Xor(corner_is_max_above, corner_is_max_left),
                                               distance(left_distance, above_distance),
                                               hn::SaturatedAdd(left_distance, above_distance));
  const Bytes nearest_distance = hn::Min(left_distance, hn::Min(above_distance, corner_distance));
  return hn::IfThenElse(
      hn::Eq(left_distance, nearest_distance), neighbours.left,
      hn::IfThenElse(hn::Eq(above_distance, nearest_distance), neighbours.above, neighbours.corner));
}

template <int kKind>
HWY_INLINE Bytes filtered(const Neighbours& neighbours) {
  if constexpr (kKind == 0) return neighbours.current;
  if constexpr (kKind == 1) return hn::Sub(neighbours.current, neighbours.left);
  if constexpr (kKind == 2) return hn::Sub(neighbours.current, neighbours.above);
  if constexpr (kKind == 3) return hn::Sub(neighbours.current, average(neighbours.left, neighbours.above));
  if constexpr (kKind == 4) return hn::Sub(neighbours.current, paeth(neighbours));
}

template <int kKind>
HWY_INLINE void filter(const std::uint8_t* current, const std::uint8_t* above, std::int64_t pixel_bytes,
                       std::int64_t count, std::uint8_t* to) {
  const auto step = static_cast<std::int64_t>(hn::Lanes(kBytes));
  for (std::int64_t i = 0; i < count; i += step)
    hn::StoreU(filtered<kKind>(load(current + i, above + i, pixel_bytes, count - i)), kBytes, to + i);
}

/// Absolute values of signed differences.
HWY_INLINE Bytes magnitude(Bytes difference) {
  return hn::Min(difference, hn::Sub(hn::Zero(kBytes), difference));
}

/// Sum of all bytes of vectors.
#if HWY_TARGET == HWY_SCALAR
using Sum = std::uint64_t;
HWY_INLINE Sum zero_sum() { return 0; }
HWY_INLINE Sum add_bytes(Sum sum, Bytes bytes) { return sum + hn::GetLane(bytes); }
HWY_INLINE std::uint64_t total(Sum sum) { return sum; }
#else
const hn::Repartition<std::uint64_t, decltype(kBytes)> kSumLanes;
using Sum = hn::Vec<decltype(kSumLanes)>;
HWY_INLINE Sum zero_sum() { return hn::Zero(kSumLanes); }
HWY_INLINE Sum add_bytes(Sum sum, Bytes bytes) { return hn::Add(sum, hn::SumsOf8(bytes)); }
HWY_INLINE std::uint64_t total(Sum sum) { return hn::GetLane(hn::SumOfLanes(kSumLanes, sum)); }
#endif

}  // namespace

void filter_row(int kind, const std::uint8_t* current, const std::uint8_t* above, std::int64_t pixel_bytes,
                std::int64_t count, std::uint8_t* to) {
  switch (kind) {
    case 0:
      return filter<0>(current, above, pixel_bytes, count, to);
    case 1:
      return filter<1>(current, above, pixel_bytes, count, to);
    case 2:
      return filter<2>(current, above, pixel_bytes, count, to);
    case 3:
      return filter<3>(current, above, pixel_bytes, count, to);
    default:
      return filter<4>(current, above, pixel_bytes, count, to);
  }
}

/// Returns the filter with the smallest sum of magnitudes over the first `part` of every `step` bytes.
int best_filter(const std::uint8_t* current, const std::uint8_t* above, std::int64_t pixel_bytes,
                std::int64_t count, std::int64_t part, std::int64_t step) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kBytes));
  Sum none_sum = zero_sum(), sub_sum = none_sum, up_sum = none_sum, average_sum = none_sum,
      paeth_sum = none_sum;
  for (std::int64_t first = 0; first < count; first += step) {
    const std::int64_t end = std::min(count, first + part);
    for (std::int64_t i = first; i < end; i += lanes) {
      const Neighbours neighbours = load(current + i, above + i, pixel_bytes, end - i);
      none_sum = add_bytes(none_sum, magnitude(filtered<0>(neighbours)));
      sub_sum = add_bytes(sub_sum, magnitude(filtered<1>(neighbours)));
      up_sum = add_bytes(up_sum, magnitude(filtered<2>(neighbours)));
      average_sum = add_bytes(average_sum, magnitude(filtered<3>(neighbours)));
      paeth_sum = add_bytes(paeth_sum, magnitude(filtered<4>(neighbours)));
    }
  }
  const std::uint64_t sums[] = {total(none_sum), total(sub_sum), total(up_sum), total(average_sum),
                                total(paeth_sum)};
  return static_cast<int>(std::min_element(std::begin(sums), std::end(sums)) - sums);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {
namespace {

HWY_EXPORT(filter_row);
HWY_EXPORT(best_filter);

/// The filters are compared on this many bytes, in long rows on every fourth piece of this size. A quarter
/// chooses as well, except for at most 0.9 % of size (docs/measurements/2026-11-23-deflate.md).
constexpr std::int64_t kSampleBytes = 256;
constexpr std::int64_t kLongRow = 4 * kSampleBytes;

}  // namespace

PngFilters::PngFilters(std::int64_t row_bytes, std::int64_t pixel_bytes)
    : row_bytes_(row_bytes), pixel_bytes_(pixel_bytes) {
  for (auto& row : rows_) row.resize(static_cast<std::size_t>(pixel_bytes + row_bytes + kRoom));
}

void PngFilters::filter_to(std::byte* to) {
  const auto* const current = reinterpret_cast<const std::uint8_t*>(rows_[0].data() + pixel_bytes_);
  const auto* const above = reinterpret_cast<const std::uint8_t*>(rows_[1].data() + pixel_bytes_);
  const int best = HWY_DYNAMIC_DISPATCH(best_filter)(current, above, pixel_bytes_, row_bytes_, kSampleBytes,
                                                     row_bytes_ < kLongRow ? kSampleBytes : 4 * kSampleBytes);
  *to = static_cast<std::byte>(best);
  HWY_DYNAMIC_DISPATCH(filter_row)
  (best, current, above, pixel_bytes_, row_bytes_, reinterpret_cast<std::uint8_t*>(to + 1));
  std::swap(rows_[0], rows_[1]);
}

}  // namespace sepconv
#endif
