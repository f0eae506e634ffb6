#include "kernels/conv/conv.hpp"
#include "kernels/conv/conv_check.hpp"
#include "kernels/conv/strips.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/conv_host.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/columns_first-inl.h"
#include "kernels/conv/row_sweep-inl.h"
#include "kernels/conv/small_kernel_fused-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class A>
Taps<A> rounded_taps(const std::vector<double>& taps, Worker& worker) {
  const auto count = static_cast<std::int64_t>(taps.size());
  A* const rounded = worker.allocate<A>(count);
  std::transform(taps.begin(), taps.end(), rounded, [](double tap) { return static_cast<A>(tap); });
  return {rounded, count};
}

/// Calls filter(strip) for each strip of the output.
template <class Filter>
void for_each_strip(const StripLayout& layout, const Region& out, const Filter& filter) {
  for (std::int64_t col = out.rect.col; col < out.rect.col_end(); col += layout.strip_cols) {
    const std::int64_t cols = std::min(layout.strip_cols, out.rect.col_end() - col);
    filter(out.crop({out.rect.row, col, out.rect.rows, cols}));
  }
}

template <class A>
void convolve_columns_first(const SeparableTaps& taps, const Border& border, const ConstRegion& in,
                            const Region& out, Worker& worker) {
  const Arena::Scope scope(worker);
  const StripLayout layout(taps, out.rect.extent(), out.image, in.pixels.channels, sizeof(A));
  const Taps<A> row_taps = rounded_taps<A>(taps.row, worker);
  const Taps<A> col_taps = rounded_taps<A>(taps.col, worker);
  ColumnsFirstScratch<A> scratch;
  scratch.block = worker.allocate<A>(layout.padded_elements);
  scratch.ring = {worker.allocate<A>(layout.ring_rows * layout.ring_pitch), layout.ring_rows,
                  layout.ring_pitch};
  scratch.constant_row = worker.allocate<A>(layout.ring_pitch);
  scratch.filtered = worker.allocate<A>(layout.ring_pitch);
  scratch.window = worker.allocate<const A*>(layout.window_rows);
  for_each_strip(layout, out, [&](const Region& strip) {
    ColumnsFirstStrip<A>(row_taps, col_taps, border, in, strip, scratch).run(worker);
  });
}

/// Makes stores past the caches visible to other threads on exit, also by exception.
struct FlushOnExit {
  bool past_caches;
  ~FlushOnExit() {
    if (past_caches) hwy::FlushStream();
  }
};

template <class A>
void convolve(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
              Worker& worker) {
  if (taps.columns_first) return convolve_columns_first<A>(taps, border, in, out, worker);
  const Arena::Scope scope(worker);
  const StripLayout layout(taps, out.rect.extent(), out.image, in.pixels.channels, sizeof(A));
  const Taps<A> row_taps = rounded_taps<A>(taps.row, worker);
  const Taps<A> col_taps = rounded_taps<A>(taps.col, worker);
  const FlushOnExit flush{out.past_caches};
  if constexpr (std::is_same_v<A, float>) {
    if (convolve_small_kernel(taps, row_taps, col_taps, border, in, out, worker)) return;
  }
  A* const padded = worker.allocate<A>(layout.padded_elements);
  StripScratch<A> scratch;
  scratch.ring = {worker.allocate<A>(layout.ring_rows * layout.ring_pitch), layout.ring_rows,
                  layout.ring_pitch};
  scratch.constant_row = worker.allocate<A>(layout.ring_pitch);
  scratch.window = worker.allocate<const A*>(layout.window_rows);

  for_each_strip(layout, out, [&](const Region& strip) {
    const RowFilter<A> rows(row_taps, border, in, strip.rect.col, strip.rect.cols, padded);
    if (taps.col.empty()) {
      filter_strip_rows(rows, strip, scratch.ring, worker);
    } else {
      march_strip(rows, col_taps, border.mode, scratch, strip, ConvTuning::kRowsPerBlock, worker);
    }
  });
}

void convolve_f32(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                  Worker& worker) {
  convolve<float>(taps, border, in, out, worker);
}
void convolve_f64(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                  Worker& worker) {
  convolve<double>(taps, border, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(convolve_f32);
HWY_EXPORT(convolve_f64);

void convolve_host(const SeparableTaps& taps, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Worker& worker) {
  check_convolution(taps, in, out);
  check_wrapped(taps, border, out);
  if (out.rect.empty()) return;
  if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(convolve_f64)(taps, border, in, out, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(convolve_f32)(taps, border, in, out, worker);
  }
}

std::int64_t convolve_scratch_bytes(const SeparableTaps& taps, Extent out, std::int64_t channels,
                                    Arithmetic arithmetic, Extent image) {
  if (out.empty()) return 0;
  const std::int64_t element_bytes = size_of(pixel_type_of(arithmetic));
  return StripLayout(taps, out, image, channels, element_bytes).scratch_bytes(taps, element_bytes);
}

}  // namespace sepconv
#endif
