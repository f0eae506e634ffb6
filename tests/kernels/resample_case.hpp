// Resamplings for the tests of their kernels: every filter, smaller and larger, parts of an image.
#pragma once

#include <string>

#include "cuda_case.hpp"
#include "sepconv/kernels/resample/resample.hpp"

namespace sepconv {

struct ResampleCase {
  Resampling resampling;
  std::int64_t channels = 1;
  Rect out;  ///< of the result
  PixelType from = PixelType::u8, to = PixelType::u8;

  Extent input() const { return {resampling.down.from, resampling.across.from}; }
  Extent result() const { return {resampling.down.to, resampling.across.to}; }
  /// What a stage would be given, and a pixel more where there is one.
  Rect in() const { return resample_input(resampling, out).grown(1, 1).intersect(Rect::whole(input())); }

  std::string text() const {
    const auto side = [](const ResampleAxis& axis) {
      return std::to_string(axis.from) + " to " + std::to_string(axis.to) + " by filter " +
             std::to_string(static_cast<int>(axis.filter)) + " of scale " + std::to_string(axis.scale);
    };
    return "rows " + side(resampling.down) + ", columns " + side(resampling.across) + ", " +
           std::to_string(channels) + " channels, " + to_string(out) + " from " + std::string(name_of(from)) +
           " to " + std::string(name_of(to)) + (resampling.columns_first ? ", columns first" : "");
  }
};

inline ResampleAxis resized(std::int64_t from, std::int64_t to, ResampleFilter filter) {
  return {from, to, static_cast<double>(from) / static_cast<double>(to), filter};
}
inline ResampleAxis reduced(std::int64_t from, std::int64_t cell, ResampleFilter filter) {
  return {from, ceil_div(from, cell), static_cast<double>(cell), filter};
}

inline ResampleAxis random_axis(Random& random, std::int64_t from, std::int64_t to) {
  constexpr ResampleFilter filters[] = {ResampleFilter::box, ResampleFilter::linear, ResampleFilter::cubic,
                                        ResampleFilter::lanczos3};
  switch (random() % 4) {
    case 0:
      return reduced(from, random_between(random, 1, 9), ResampleFilter::box);
    case 1:
      return reduced(from, random_between(random, 1, 9), ResampleFilter::binomial);
    default:
      return resized(from, random() % 8 == 0 ? from : to, random_of(random, filters));
  }
}

inline ResampleCase random_resampling(Random& random, Extent from, Extent to) {
  ResampleCase c;
  c.resampling = {random_axis(random, from.rows, to.rows), random_axis(random, from.cols, to.cols),
                  random() % 2 == 0};
  c.channels = random_between(random, 1, 5);
  const Extent result = c.result();
  c.out.row = random_between(random, 0, result.rows - 1) / 2;
  c.out.col = random_between(random, 0, result.cols - 1) / 2;
  c.out.rows = random_between(random, 1, result.rows - c.out.row);
  c.out.cols = random_between(random, 1, result.cols - c.out.col);
  c.from = random_of(random, kPixelTypes);
  c.to = random_of(random, kPixelTypes);
  return c;
}

}  // namespace sepconv
