// A random convolution case: its generator, its text form and the input rectangle that it needs. Shared by
// the tests of all implementations.
#pragma once

#include <ostream>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "random_image.hpp"

namespace sepconv {

inline constexpr BorderMode kBorderModes[] = {BorderMode::constant, BorderMode::replicate,
                                              BorderMode::reflect, BorderMode::reflect101};
inline constexpr Arithmetic kArithmetics[] = {Arithmetic::f32, Arithmetic::f64};

struct ConvolutionCase {
  SeparableTaps taps;
  Border border;
  Extent image;
  Rect out;  ///< the result's rectangle of the image
  std::int64_t channels = 1;
  PixelType from = PixelType::f32;
  PixelType to = PixelType::f32;
  Arithmetic arithmetic = Arithmetic::f32;
  bool special = false;
};

inline std::ostream& operator<<(std::ostream& out, const ConvolutionCase& c) {
  return out << "image " << c.image.rows << " x " << c.image.cols << " x " << c.channels << ", out "
             << to_string(c.out) << ", taps " << c.taps.row.size() << " and " << c.taps.col.size()
             << (c.taps.columns_first ? " (columns first)" : "") << ", border " << name_of(c.border.mode)
             << " " << c.border.value << ", " << name_of(c.from) << " to " << name_of(c.to) << " in "
             << name_of(c.arithmetic) << (c.special ? ", special values" : "");
}

inline std::vector<double> random_taps(Random& random, std::int64_t radius) {
  std::vector<double> taps(static_cast<std::size_t>(2 * radius + 1));
  for (double& tap : taps) tap = std::uniform_real_distribution<double>(-0.4, 0.6)(random);
  return taps;
}

/// The rectangle of the image that a kernel may read.
inline Rect needed_rect(const ConvolutionCase& c) {
  return c.out.grown(c.taps.col_radius(), c.taps.row_radius()).intersect(Rect::whole(c.image));
}

/// Writes the reference's bits to `out`, an image of c.out. Large cases use convolve_host, which
/// conv_test.cpp compares with the reference, because the reference also filters the rows beyond the image
/// and is slow.
inline void convolve_expected(const ConvolutionCase& c, const ConstRegion& in, const PixelView& out) {
  const auto row_taps = static_cast<std::int64_t>(c.taps.row.size());
  const Region result{out, c.out, c.image};
  if ((c.out.rows + 2 * c.taps.col_radius()) * out.row_elements() * row_taps < 1'000'000) {
    return convolve_reference(c.taps, c.border, in, result, c.arithmetic);
  }
  Worker worker(Buffer(convolve_scratch_bytes(c.taps, c.out.extent(), c.channels, c.arithmetic, c.image)));
  convolve_host(c.taps, c.border, in, result, c.arithmetic, worker);
}

/// Sets the result's rectangle, channels, types and whether there are special values at random.
template <class Case>
void draw_part_and_types(Random& random, Case& c) {
  c.out.row = random_between(random, 0, c.image.rows - 1);
  c.out.col = random_between(random, 0, c.image.cols - 1);
  c.out.rows = random_between(random, 1, c.image.rows - c.out.row);
  c.out.cols = random_between(random, 1, c.image.cols - c.out.col);
  if (random_between(random, 0, 1) == 0) c.out = Rect::whole(c.image);
  c.channels = random_between(random, 1, 5);
  c.from = random_choice(random, kPixelTypes);
  c.to = random_choice(random, kPixelTypes);
  c.arithmetic = random_choice(random, kArithmetics);
  c.special = random_between(random, 0, 3) == 0;
}

inline ConvolutionCase random_case(Random& random, std::int64_t largest_side, std::int64_t largest_radius) {
  ConvolutionCase c;
  c.image = {random_between(random, 1, largest_side), random_between(random, 1, largest_side)};
  if (random_between(random, 0, 9) > 0)
    c.taps.row = random_taps(random, random_between(random, 0, largest_radius));
  if (random_between(random, 0, 9) > 0)
    c.taps.col = random_taps(random, random_between(random, 0, largest_radius));
  c.taps.columns_first = random_between(random, 0, 2) == 0;
  c.border = {random_choice(random, kBorderModes), std::uniform_real_distribution<double>(-10, 300)(random)};
  draw_part_and_types(random, c);
  return c;
}

}  // namespace sepconv
