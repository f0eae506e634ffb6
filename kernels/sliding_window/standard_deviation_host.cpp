#include "kernels/simd/dispatch.hpp"
#include "kernels/sliding_window/recompute_deviations.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window_check.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sliding_window/standard_deviation_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/sliding_window/deviation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// A chunk of one row in f64, whole vectors.
struct MomentsRow {
  static constexpr std::int64_t kChunk = 256;
  alignas(64) double counts[kChunk], sums[kChunk], squares[kChunk], pixels[kChunk];

  void deviate(const std::optional<double>& min_deviation, bool is_exact, std::int64_t count) {
    const hn::ScalableTag<double> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const SpreadVectors<hn::Vec<decltype(d)>> window_sums{hn::Load(d, counts + i), hn::Load(d, sums + i),
                                                            hn::Load(d, squares + i), hn::Zero(d)};
      hn::Store(precise_or_marked(window_sums, is_exact, pixels + i, min_deviation), d, sums + i);
    }
  }
};

void deviation(const WindowMoments& moments, const PixelView& out) {
  constexpr std::int64_t kChunk = MomentsRow::kChunk;
  MomentsRow part;
  std::fill_n(part.counts, kChunk, moments.count);
  const std::optional<double> min_deviation = min_of(moments);
  const LoadRow<double> load = load_row_for<double>(min_deviation ? moments.pixels.type : PixelType::f64);
  const StoreRow<double> store = store_row_for<double>(out.type);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    for (std::int64_t i = 0; i < out.row_elements(); i += kChunk) {
      const std::int64_t count = std::min(kChunk, out.row_elements() - i);
      std::copy_n(moments.sums.row<double>(row) + i, count, part.sums);
      std::copy_n(moments.squares.row<double>(row) + i, count, part.squares);
      if (moments.counts.data != nullptr)
        std::copy_n(moments.counts.row<double>(row) + i, count, part.counts);
      if (min_deviation)
        load(moments.pixels.row_data(row) + i * size_of(moments.pixels.type), count, part.pixels);
      part.deviate(min_deviation, !moments.has_windows(), count);
      store(part.sums, count, out.row_data(row) + i * size_of(out.type));
    }
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(deviation);

void deviation_host(const WindowMoments& moments, const PixelView& out) {
  check_moments(moments, out);
  HWY_DYNAMIC_DISPATCH(deviation)(moments, out);
  if (moments.has_windows()) recompute_deviations(moments.windows, min_of(moments), out);
}

}  // namespace sepconv
#endif
