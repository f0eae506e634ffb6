#include "sepconv/io/png/png_filters.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

// Plain loops, which the compiler makes vectors of, for every set of instructions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sepconv/io/png/png_filters.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace {

struct Neighbours {
  const std::uint8_t *here, *left, *above, *corner;
};

template <class Predict>
HWY_INLINE std::uint64_t filtered(const Neighbours& at, std::int64_t count, std::uint8_t* to,
                                  Predict predict) {
  std::uint64_t sum = 0;
  // Sums of 32 bits, of which more go into a vector.
  constexpr std::int64_t kPart = std::int64_t{1} << 24;
  for (std::int64_t first = 0; first < count; first += kPart) {
    std::uint32_t part = 0;
    for (std::int64_t i = first; i < std::min(count, first + kPart); ++i) {
      const auto difference =
          static_cast<std::uint8_t>(at.here[i] - predict(at.left[i], at.above[i], at.corner[i]));
      to[i] = difference;
      part += std::min<std::uint8_t>(difference, static_cast<std::uint8_t>(-difference));
    }
    sum += part;
  }
  return sum;
}

HWY_INLINE std::uint8_t paeth(std::uint8_t left, std::uint8_t above, std::uint8_t corner) {
  const auto by_left = static_cast<std::int16_t>(std::abs(above - corner));
  const auto by_above = static_cast<std::int16_t>(std::abs(left - corner));
  const auto by_corner = static_cast<std::int16_t>(std::abs(left + above - 2 * corner));
  const std::uint8_t other = by_above <= by_corner ? above : corner;
  return by_left <= by_above && by_left <= by_corner ? left : other;
}

}  // namespace

/// What filter `kind` makes of a row, and the sum of its magnitudes.
std::uint64_t try_filter(int kind, const std::uint8_t* here, const std::uint8_t* above, std::int64_t pixel,
                         std::int64_t count, std::uint8_t* to) {
  const Neighbours at{here, here - pixel, above, above - pixel};
  using U8 = std::uint8_t;
  switch (kind) {
    case 0:
      return filtered(at, count, to, [](U8, U8, U8) { return U8{0}; });
    case 1:
      return filtered(at, count, to, [](U8 left, U8, U8) { return left; });
    case 2:
      return filtered(at, count, to, [](U8, U8 up, U8) { return up; });
    case 3:
      return filtered(at, count, to, [](U8 left, U8 up, U8) {
        return static_cast<U8>((left & up) + ((left ^ up) >> 1));  // half of the sum
      });
    default:
      return filtered(at, count, to, paeth);
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {
namespace {

HWY_EXPORT(try_filter);
constexpr int kFilters = 5;
/// Sums are taken of so many bytes, and in long rows of as many again after three times as many: a look at a
/// quarter chooses as well, but for 0.9 % of size at most (docs/measurements/2026-11-23-deflate.md).
constexpr std::int64_t kLook = 256;
constexpr std::int64_t kLongRow = 4 * kLook;

}  // namespace

PngFilters::PngFilters(std::int64_t row_bytes, std::int64_t pixel_bytes)
    : row_bytes_(row_bytes), pixel_bytes_(pixel_bytes), tried_(static_cast<std::size_t>(kLook)) {
  for (auto& row : rows_) row.resize(static_cast<std::size_t>(pixel_bytes + row_bytes));
}

void PngFilters::filter_to(std::byte* to) {
  const auto* const here = reinterpret_cast<const std::uint8_t*>(rows_[0].data() + pixel_bytes_);
  const auto* const above = reinterpret_cast<const std::uint8_t*>(rows_[1].data() + pixel_bytes_);
  const auto filtered = [&](int kind, std::int64_t first, std::int64_t count, std::byte* into) {
    return HWY_DYNAMIC_DISPATCH(try_filter)(kind, here + first, above + first, pixel_bytes_, count,
                                            reinterpret_cast<std::uint8_t*>(into));
  };
  const std::int64_t step = row_bytes_ < kLongRow ? kLook : 4 * kLook;
  int best = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (int kind = 0; kind < kFilters; ++kind) {
    std::uint64_t sum = 0;
    for (std::int64_t first = 0; first < row_bytes_; first += step)
      sum += filtered(kind, first, std::min(kLook, row_bytes_ - first), tried_.data());
    if (sum < least) least = sum, best = kind;
  }
  *to = static_cast<std::byte>(best);
  filtered(best, 0, row_bytes_, to + 1);
  std::swap(rows_[0], rows_[1]);
}

}  // namespace sepconv
#endif
