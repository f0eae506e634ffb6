#include "kernels/simd/dispatch.hpp"
#include "kernels/sliding_window/recompute_deviations.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window_check.hpp"
#include "kernels/sliding_window/window_sizes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sliding_window/moments_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/error.hpp"
#include "kernels/sliding_window/moments-inl.h"
#include "kernels/sliding_window/passes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

template <class E, class Columns>
void run_moments(const Window& window, std::optional<double> min_deviation, bool is_exact,
                 const Border& border, const ConstRegion& in, const Region& out, Worker& worker) {
  const MomentElements<E> elements(window, min_deviation, is_exact, in.pixels.type, out.pixels.type);
  WindowPasses<MomentElements<E>, double, Columns>(window, border, in, out, worker, elements).run();
}

void window_deviation(const Window& window, std::optional<double> min_deviation, const Border& border,
                      const ConstRegion& in, const Region& out, Worker& worker) {
  const Arena::Scope scope(worker);
  if (!sums_are_exact<double>(window, border, in.pixels.type))
    return run_moments<double, ColumnSums<double>>(window, min_deviation, false, border, in, out, worker);
  Window exact = window;
  exact.columns_first = false;
  if (fit_integers(window, in.pixels.type))
    return run_moments<std::int32_t, RunningColumns<std::int32_t, std::int32_t>>(exact, min_deviation, true,
                                                                                 border, in, out, worker);
  run_moments<double, RunningColumns<double, double>>(exact, min_deviation, true, border, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(window_deviation);

bool supports_window_deviation(const Border& border) {
  return border.mode != BorderMode::constant || border.value == 0;
}

void window_deviation_host(const Window& window, std::optional<double> min_deviation, const Border& border,
                           const ConstRegion& in, const Region& out, Worker& worker) {
  check_window(window, in, out);
  check_wrapped(window, border, out);
  if (!supports_window_deviation(border) || window.of != Window::Of::squares || window.ignores_nan ||
      !is_floating(out.pixels.type))
    throw InvalidArgument(
        "deviations of windows need a window of squares without ignores_nan, a border that "
        "is not a constant other than 0, and a result of f32 or f64");
  if (out.rect.empty()) return;
  HWY_DYNAMIC_DISPATCH(window_deviation)(window, min_deviation, border, in, out, worker);
  if (sums_are_exact<double>(window, border, in.pixels.type)) return;
  recompute_deviations({.in = in,
                        .border = border,
                        .out = out.rect,
                        .radius_x = window.radius_x,
                        .radius_y = window.radius_y,
                        .columns_first = window.columns_first},
                       min_deviation, out.pixels);
}

std::int64_t window_deviation_scratch_bytes(const Window& window, Extent out, std::int64_t channels) {
  if (out.empty()) return 0;
  const auto bytes = [&](std::int64_t element) {
    return WindowSizes(window, out, 2 * channels, element).scratch_bytes(sizeof(double));
  };
  return std::max(bytes(sizeof(std::int32_t)), bytes(sizeof(double)));
}

}  // namespace sepconv
#endif
