#include "kernels/sliding_window/window_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "kernels/sliding_window/disk_device.hpp"
#include "kernels/sliding_window/integer_box.hpp"

namespace sepconv {

void check_window(const Window& window, const ConstRegion& in, const Region& out) {
  if (window.radius_x < 0 || window.radius_y < 0)
    throw InvalidArgument(
        fmt::format("radius {} and radius_y {} must be 0 or more", window.radius_x, window.radius_y));
  if (window.shape == Window::Shape::disk &&
      (window.op == Window::Op::sum || std::max(window.radius_x, window.radius_y) > kMaxDiskRadius))
    throw InvalidArgument(fmt::format(
        "a disk supports only minimum and maximum, with radii up to {}; use a box", kMaxDiskRadius));
  if (in.pixels.channels != out.pixels.channels)
    throw InvalidArgument(fmt::format("windows of {} channels cannot produce {}: give the same number",
                                      in.pixels.channels, out.pixels.channels));
  const Rect needed = out.rect.grown(window.radius_y, window.radius_x).intersect(Rect::whole(out.image));
  if (in.image != out.image || !in.rect.contains(needed) || !Rect::whole(out.image).contains(out.rect) ||
      in.pixels.extent != in.rect.extent() || out.pixels.extent != out.rect.extent())
    throw InvalidArgument(fmt::format("windows around {} need the input's {} but were given {}",
                                      to_string(out.rect), to_string(needed), to_string(in.rect)));
}

void check_wrapped(const Window& window, const Border& border, const Region& out) {
  const Rect needed = out.rect.grown(window.radius_y, window.radius_x);
  if (border.mode == BorderMode::wrap && !Rect::whole(out.image).contains(needed))
    throw InvalidArgument(
        fmt::format("windows around {} with border=wrap need {}, beyond the image's edges: give an image "
                    "that holds them",
                    to_string(out.rect), to_string(needed)));
}

void check_moments(const WindowMoments& moments, const PixelView& out) {
  const auto fits = [&](const ConstPixelView& view) {
    return view.extent == out.extent && view.channels == out.channels;
  };
  const bool fits_all =
      fits(moments.sums) && fits(moments.squares) && is_floating(out.type) &&
      moments.sums.type == PixelType::f64 && moments.squares.type == PixelType::f64 &&
      (moments.counts.data == nullptr || (fits(moments.counts) && moments.counts.type == PixelType::f64)) &&
      (moments.pixels.data == nullptr || fits(moments.pixels)) && moments.least >= 0 &&
      (!moments.has_windows() ||
       (moments.windows.out.extent() == out.extent && moments.windows.in.pixels.channels == out.channels));
  if (!fits_all)
    throw InvalidArgument(
        "deviations need sums in f64, views of equal extent and channels, and a result of f32 or f64");
}

bool moments_are_exact(const Window& window, const Border& border, PixelType type) {
  Window squares = window;
  squares.of = Window::Of::squares;
  return is_representable_as<double>(border, type) &&
         max_sum(squares, type) <= std::ldexp(1.0, std::numeric_limits<double>::digits);
}

Window clamp_radii(Window window, Extent image) {
  if (window.op == Window::Op::sum || window.shape == Window::Shape::disk) return window;
  window.columns_first = false;
  window.radius_x = std::min(window.radius_x, image.cols);
  window.radius_y = std::min(window.radius_y, image.rows);
  return window;
}

double max_sum(const Window& window, PixelType type) {
  double max_value = std::numeric_limits<double>::infinity();
  if (type == PixelType::u8) max_value = 255;
  if (type == PixelType::u16) max_value = 65535;
  if (type == PixelType::i16) max_value = 32768;
  const auto pixels =
      static_cast<double>(2 * window.radius_x + 1) * static_cast<double>(2 * window.radius_y + 1);
  return pixels * (window.of == Window::Of::squares ? max_value * max_value : max_value);
}

bool fit_integers(const Window& window, PixelType type) {
  return type == PixelType::u8 && window.of != Window::Of::ones &&
         max_sum(window, type) <= std::numeric_limits<std::int32_t>::max() &&
         (window.of == Window::Of::squares ||
          (2 * window.radius_x + 1) * 255 <= std::numeric_limits<std::uint16_t>::max());
}

bool fits_strips(const Window& window, std::int64_t channels, Arithmetic arithmetic) {
  // Measured: from there on two passes are faster.
  constexpr std::int64_t kMaxHalo = 24;  // elements on either side
  const std::int64_t max_rows = arithmetic == Arithmetic::f64 ? 4 : window.op == Window::Op::sum ? 8 : 12;
  const bool any_order = !window.columns_first || window.radius_x == 0 || window.radius_y == 0;
  return any_order && window.radius_x * channels <= kMaxHalo && window.radius_y <= max_rows;
}

bool is_box_of_integers(const Window& window, const Border& border, PixelType type, std::int64_t channels,
                        Arithmetic arithmetic) {
  const std::int64_t rows = 2 * window.radius_y + 1, pixels = (2 * window.radius_x + 1) * rows;
  return arithmetic == Arithmetic::f32 && (channels == 1 || window.radius_x <= 1) &&
         window.of == Window::Of::values && pixels < 65536 &&
         window.divisor == static_cast<double>(pixels) * window.unit &&
         sums_are_exact<float>(window, border, type) && (type != PixelType::u8 || rows * 255 < 65536);
}

std::int64_t window_device_bytes(const Window& requested, Extent out, std::int64_t channels,
                                 Arithmetic arithmetic, Extent image) {
  const PixelType type = pixel_type_of(arithmetic);
  if (out.empty()) return 0;
  if (requested.shape == Window::Shape::disk) return disk_device_bytes(requested, out, arithmetic);
  const Window window = clamp_radii(requested, image);
  if (window.radius_x == 0 || window.radius_y == 0 || fits_strips(window, channels, arithmetic)) return 0;
  const bool rows_first = !window.columns_first;
  const Extent between{std::min(out.rows + (rows_first ? 2 * window.radius_y : 0), image.rows),
                       std::min(out.cols + (rows_first ? 0 : 2 * window.radius_x), image.cols)};
  return Arena::view_bytes(between, channels, type);
}

double window_ones_sum(const Window& window, Arithmetic arithmetic) {
  return visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const auto window_of_ones = [](std::int64_t radius, A value) {
      return sum_of_window<A>(2 * radius + 1, [value](std::int64_t) { return value; });
    };
    const std::int64_t first = window.columns_first ? window.radius_y : window.radius_x;
    const std::int64_t second = window.columns_first ? window.radius_x : window.radius_y;
    return static_cast<double>(window_of_ones(second, window_of_ones(first, static_cast<A>(window.unit))));
  });
}

}  // namespace sepconv
