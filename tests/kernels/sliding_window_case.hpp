// A random window case: its generator, its text form and the input rectangle that it needs. Shared by the
// tests of all implementations.
#pragma once

#include <cmath>
#include <ostream>

#include "conv_case.hpp"
#include "kernels/sliding_window/window.hpp"

namespace sepconv {

struct WindowCase {
  Window window;
  Border border;
  Extent image;
  Rect out;  ///< the result's rectangle of the image
  std::int64_t channels = 1;
  PixelType from = PixelType::f32;
  PixelType to = PixelType::f32;
  Arithmetic arithmetic = Arithmetic::f32;
  bool special = false;
};

inline std::ostream& operator<<(std::ostream& out, const WindowCase& c) {
  constexpr const char* kOps[] = {"minimum", "maximum", "sum"};
  return out << kOps[static_cast<int>(c.window.op)]
             << (c.window.shape == Window::Shape::disk ? " of a disk" : "") << " of kind "
             << static_cast<int>(c.window.of) << (c.window.columns_first ? " (columns first)" : "")
             << (c.window.ignores_nan ? " without NaN" : "") << " of radii " << c.window.radius_x << ", "
             << c.window.radius_y << " in units of " << c.window.unit << ", over " << c.window.divisor
             << ", image " << c.image.rows << " x " << c.image.cols << " x " << c.channels << ", out "
             << to_string(c.out) << ", border " << name_of(c.border.mode) << " " << c.border.value << ", "
             << name_of(c.from) << " to " << name_of(c.to) << " in " << name_of(c.arithmetic)
             << (c.special ? ", special values" : "");
}

/// The rectangle of the image that a kernel may read.
inline Rect needed_rect(const WindowCase& c) {
  return c.out.grown(c.window.radius_y, c.window.radius_x).intersect(Rect::whole(c.image));
}

inline WindowCase random_window_case(Random& random, std::int64_t largest_side, std::int64_t largest_radius) {
  constexpr Window::Op kOps[] = {Window::Op::minimum, Window::Op::maximum, Window::Op::sum};
  constexpr double kValues[] = {0, 7, -3.25, 300, -1e5};
  WindowCase c;
  c.image = {random_between(random, 1, largest_side), random_between(random, 1, largest_side)};
  c.window.op = random_choice(random, kOps);
  c.window.radius_x = random_between(random, 0, largest_radius);
  c.window.radius_y = random_between(random, 0, largest_radius);
  c.window.ignores_nan = random_between(random, 0, 1) == 0;
  constexpr Window::Of kOf[] = {Window::Of::values, Window::Of::squares, Window::Of::ones};
  if (random_between(random, 0, 1) == 0) c.window.of = random_choice(random, kOf);
  c.window.columns_first = random_between(random, 0, 2) == 0;
  if (random_between(random, 0, 1) == 0)
    c.window.unit = std::ldexp(1, -static_cast<int>(random_between(random, 1, 20)));
  c.window.divisor = random_between(random, 0, 1) == 0 ? 1 : window_ones_sum(c.window, Arithmetic::f32);
  c.border = {random_choice(random, kBorderModes), random_choice(random, kValues)};
  draw_part_and_types(random, c);
  return c;
}

inline WindowCase random_disk_case(Random& random, std::int64_t largest_side, std::int64_t largest_radius) {
  WindowCase c = random_window_case(random, largest_side, largest_radius);
  if (c.window.op == Window::Op::sum) c.window.op = Window::Op::maximum;
  if (random_between(random, 0, 1) == 0) c.window.radius_y = c.window.radius_x;
  c.window.shape = Window::Shape::disk;
  return c;
}

}  // namespace sepconv
