#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/conv/border_accessor.hpp"
#include "kernels/rank/rank.hpp"

namespace sepconv {
namespace {

/// A plane; one without pixels is the border's constant.
template <class A>
struct Plane {
  bool has_pixels;
  A constant;
  BorderAccessor<A> pixels;

  Plane(const ConstRegion& in, const Border& border)
      : has_pixels(in.pixels.data != nullptr), constant(static_cast<A>(border.value)), pixels(in, border) {}
  A at(std::int64_t row, std::int64_t col, std::int64_t channel) const {
    return has_pixels ? pixels.at(row, col, channel) : constant;
  }
};

template <class A>
A ranked_value(const RankFilter& filter, const std::vector<Plane<A>>& planes, std::int64_t row,
               std::int64_t col, std::int64_t channel) {
  constexpr A kMissing = std::numeric_limits<A>::quiet_NaN();
  const RankWindow& window = filter.window;
  std::vector<A> values;
  for (const Plane<A>& plane : planes) {
    for (std::int64_t y = row - window.up; y <= row + window.down; ++y) {
      for (std::int64_t x = col - window.left; x <= col + window.right; ++x) {
        const A value = plane.at(y, x, channel);
        if (!std::isnan(value)) values.push_back(value);
      }
    }
  }
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 0) return kMissing;
  if (count < window.area() && filter.missing == RankMissing::propagate) return kMissing;
  const Plane<A>& centre = planes[static_cast<std::size_t>(window.front)];
  if (filter.missing == RankMissing::ignore && std::isnan(centre.at(row, col, channel))) return kMissing;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(filter.rank_of(count));
  std::nth_element(values.begin(), at, values.end());
  return *at + A(0);
}

}  // namespace

void rank_reference(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                    const Region& out, Arithmetic arithmetic) {
  check_rank(filter, border, planes, out, true);
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    std::vector<Plane<A>> sources;
    for (const ConstRegion& plane : planes) sources.emplace_back(plane, border);
    const StoreRow<A> store = store_row_for<A>(out.pixels.type);
    std::vector<A> values(static_cast<std::size_t>(out.pixels.row_elements()));
    for (std::int64_t row = 0; row < out.rect.rows; ++row) {
      for (std::int64_t i = 0; i < out.pixels.row_elements(); ++i)
        values[static_cast<std::size_t>(i)] =
            ranked_value<A>(filter, sources, out.rect.row + row, out.rect.col + i / out.pixels.channels,
                            i % out.pixels.channels);
      store(values.data(), out.pixels.row_elements(), out.pixels.row_data(row));
    }
  });
}

}  // namespace sepconv
