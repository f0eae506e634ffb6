#include <cmath>
#include <vector>

#include "kernels/conv/border_accessor.hpp"
#include "kernels/sliding_window/disk.hpp"
#include "kernels/sliding_window/window_check.hpp"

namespace sepconv {
namespace {

/// The minimum of two values, where NaN is less than all or, if ignored, greater.
template <class A>
A min_value(A a, A b, bool ignores_nan) {
  if (std::isnan(a)) return ignores_nan ? b : a;
  if (std::isnan(b)) return ignores_nan ? a : b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

/// The window's operation over `count` neighbours.
template <class A, class Value>
A reduced(const Window& window, std::int64_t count, const Value& value) {
  if (window.op == Window::Op::sum) return sum_of_window<A>(count, value);
  const A sign = window.op == Window::Op::maximum ? A(-1) : A(1);
  A minimum = sign * value(0);
  for (std::int64_t i = 1; i < count; ++i) minimum = min_value(minimum, sign * value(i), window.ignores_nan);
  return sign * minimum;
}

/// The summand of a pixel.
template <class A>
A summand(const Window& window, A value) {
  const bool is_summed = !std::isnan(value) || !window.ignores_nan;
  if (!is_summed) return 0;
  if (window.of == Window::Of::squares) return value * value;
  const A unit = static_cast<A>(window.unit);
  return window.of == Window::Of::ones ? unit : value * unit;
}

/// Reduces along rows, then along columns, or in the opposite order.
template <class A>
void reduce(const Window& window, const Border& border, const ConstRegion& in, const Region& out) {
  const bool rows_first = !window.columns_first;
  const std::int64_t channels = out.pixels.channels;
  const std::int64_t grown_rows = rows_first ? window.radius_y : 0;
  const std::int64_t grown_cols = rows_first ? 0 : window.radius_x;
  const Rect between = out.rect.grown(grown_rows, grown_cols);
  std::vector<A> first(static_cast<std::size_t>(between.area() * channels));
  const auto first_at = [&](std::int64_t row, std::int64_t col, std::int64_t channel) -> A& {
    return first[static_cast<std::size_t>((row * between.cols + col) * channels + channel)];
  };
  const auto for_each = [channels](Extent extent, const auto& element) {
    for (std::int64_t row = 0; row < extent.rows; ++row)
      for (std::int64_t col = 0; col < extent.cols; ++col)
        for (std::int64_t channel = 0; channel < channels; ++channel) element(row, col, channel);
  };
  const BorderAccessor<A> extended(in, border);
  for_each(between.extent(), [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
    const std::int64_t radius = rows_first ? window.radius_x : window.radius_y;
    first_at(row, col, channel) = reduced<A>(window, 2 * radius + 1, [&](std::int64_t i) {
      const std::int64_t down = rows_first ? 0 : i - radius, right = rows_first ? i - radius : 0;
      const A value = extended.at(between.row + row + down, between.col + col + right, channel);
      return window.op == Window::Op::sum ? summand(window, value) : value;
    });
  });
  const std::int64_t radius = rows_first ? window.radius_y : window.radius_x;
  visit_pixel_type(out.pixels.type, [&]<class T>(std::type_identity<T>) {
    for_each(out.rect.extent(), [&](std::int64_t row, std::int64_t col, std::int64_t channel) {
      A value = reduced<A>(window, 2 * radius + 1, [&](std::int64_t i) {
        return first_at(rows_first ? row + i : row, rows_first ? col : col + i, channel);
      });
      if (window.op == Window::Op::sum) value /= static_cast<A>(window.divisor);
      out.pixels.row<T>(row)[col * channels + channel] = to_pixel<T>(value);
    });
  });
}

/// The minimum or maximum of a disk's pixels.
template <class A>
void reduce_disk(const Window& window, const Border& border, const ConstRegion& in, const Region& out) {
  const BorderAccessor<A> extended(in, border);
  const std::int64_t box_cols = 2 * window.radius_x + 1, channels = out.pixels.channels;
  std::vector<std::int64_t> inside;  // positions in the box around it
  for (std::int64_t i = 0; i < box_cols * (2 * window.radius_y + 1); ++i)
    if (disk_contains(window, i / box_cols - window.radius_y, i % box_cols - window.radius_x))
      inside.push_back(i);
  visit_pixel_type(out.pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < out.rect.rows; ++row)
      for (std::int64_t i = 0; i < out.rect.cols * channels; ++i)
        out.pixels.row<T>(row)[i] =
            to_pixel<T>(reduced<A>(window, std::ssize(inside), [&](std::int64_t index) {
              const std::int64_t position = inside[static_cast<std::size_t>(index)];
              return extended.at(out.rect.row + row + position / box_cols - window.radius_y,
                                 out.rect.col + i / channels + position % box_cols - window.radius_x,
                                 i % channels);
            }));
  });
}

}  // namespace

void window_reference(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                      Arithmetic arithmetic) {
  check_window(window, in, out);
  if (in.rect != Rect::whole(in.image)) check_wrapped(window, border, out);
  if (out.rect.empty()) return;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    window.shape == Window::Shape::disk ? reduce_disk<A>(window, border, in, out)
                                        : reduce<A>(window, border, in, out);
  });
}

}  // namespace sepconv
