// Minimum, maximum and sums on the host: selects the element and column classes.
#include "kernels/simd/dispatch.hpp"
#include "kernels/sliding_window/disk.hpp"
#include "kernels/sliding_window/integer_box.hpp"
#include "kernels/sliding_window/window_check.hpp"
#include "kernels/sliding_window/window_sizes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sliding_window/window_host.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/sliding_window/integer_box-inl.h"
#include "kernels/sliding_window/integer_sums-inl.h"
#include "kernels/sliding_window/passes-inl.h"
#include "kernels/sliding_window/summed_elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Means of pixels T with sums down columns of type C.
template <class T, class C>
void run_integer_box(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                     Worker& worker) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (out.pixels.type == PixelType::u8 &&
        ByteQuotient::fits((2 * window.radius_x + 1) * (2 * window.radius_y + 1)))
      return IntegerBox<T, C, std::uint16_t>(window, border, in, out, worker).run();
  }
  IntegerBox<T, C, std::int32_t>(window, border, in, out, worker).run();
}

template <class A>
void run_sums(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
              Worker& worker) {
  if constexpr (std::is_same_v<A, float>) {
    const PixelType type = in.pixels.type;
    if (is_box_of_integers(window, border, type, in.pixels.channels, Arithmetic::f32)) {
      if (type == PixelType::u8)
        return run_integer_box<std::uint8_t, std::uint16_t>(window, border, in, out, worker);
      if (type == PixelType::u16)
        return run_integer_box<std::uint16_t, std::int32_t>(window, border, in, out, worker);
      return run_integer_box<std::int16_t, std::int32_t>(window, border, in, out, worker);
    }
  }
  if (!sums_are_exact<A>(window, border, in.pixels.type))
    return WindowPasses<SummedElements<A>, A>(window, border, in, out, worker).run();
  Window exact = window;
  exact.columns_first = false;
  const auto run = [&]<class Elements, class S>(std::type_identity<Elements>, S) {
    using Columns = RunningColumns<typename Elements::Element, S>;
    WindowPasses<Elements, A, Columns>(exact, border, in, out, worker).run();
  };
  if (!fit_integers(window, in.pixels.type)) return run(std::type_identity<SummedElements<A>>(), A());
  window.of == Window::Of::squares ? run(std::type_identity<ByteSums<std::int32_t, A>>(), std::int32_t())
                                   : run(std::type_identity<ByteSums<std::uint16_t, A>>(), std::int32_t());
}

template <class A>
void run_window(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                Worker& worker) {
  const Arena::Scope scope(worker);
  if (window.op == Window::Op::sum) return run_sums<A>(window, border, in, out, worker);
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      if (is_pixel<T, A>(border))
        return WindowPasses<IntegerElements<T, A>, A>(window, border, in, out, worker).run();
    }
    WindowPasses<RankedElements<A>, A>(window, border, in, out, worker).run();
  });
}

void window_f32(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                Worker& worker) {
  run_window<float>(window, border, in, out, worker);
}
void window_f64(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                Worker& worker) {
  run_window<double>(window, border, in, out, worker);
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(window_f32);
HWY_EXPORT(window_f64);

void window_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                 Arithmetic arithmetic, Worker& worker) {
  check_window(window, in, out);
  check_wrapped(window, border, out);
  if (out.rect.empty()) return;
  const Window effective = clamp_radii(window, out.image);
  if (effective.shape == Window::Shape::disk) {
    disk_host(effective, border, in, out, arithmetic, worker);
  } else if (arithmetic == Arithmetic::f64) {
    HWY_DYNAMIC_DISPATCH(window_f64)(effective, border, in, out, worker);
  } else {
    HWY_DYNAMIC_DISPATCH(window_f32)(effective, border, in, out, worker);
  }
  if (out.past_caches) hwy::FlushStream();
}

std::int64_t window_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                  Arithmetic arithmetic, Extent image) {
  if (out.empty()) return 0;
  if (window.shape == Window::Shape::disk) return disk_scratch_bytes(window, out, channels, arithmetic);
  const Window effective = clamp_radii(window, image);
  const std::int64_t arithmetic_bytes = size_of(pixel_type_of(arithmetic));
  std::int64_t max_bytes =
      window.op == Window::Op::sum ? IntegerBoxSizes(effective, out, channels).scratch_bytes() : 0;
  for (std::int64_t bytes = 1; bytes <= arithmetic_bytes; bytes *= 2)
    max_bytes =
        std::max(max_bytes, WindowSizes(effective, out, channels, bytes).scratch_bytes(arithmetic_bytes));
  return max_bytes;
}

}  // namespace sepconv
#endif
