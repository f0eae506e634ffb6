// Resampling cases for the kernel tests: every filter, reduction and enlargement, parts of an image.
#pragma once

#include <string>

#include "cuda_case.hpp"
#include "kernels/resample/resample.hpp"

namespace sepconv {

struct ResampleCase {
  Resampling resampling;
  std::int64_t channels = 1;
  Rect out;  ///< rectangle of the result
  PixelType from = PixelType::u8, to = PixelType::u8;

  Extent input() const { return {resampling.down.from, resampling.across.from}; }
  Extent result() const { return {resampling.down.to, resampling.across.to}; }
  /// The input rectangle that a stage would get, grown by one pixel within the image.
  Rect in() const {
    return resample_source_rect(resampling, out).grown(1, 1).intersect(Rect::whole(input()));
  }

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
  constexpr ResampleFilter filters[] = {ResampleFilter::area, ResampleFilter::box, ResampleFilter::linear,
                                        ResampleFilter::cubic, ResampleFilter::lanczos3};
  switch (random() % 4) {
    case 0:
      return reduced(from, random_between(random, 1, 9), ResampleFilter::box);
    case 1:
      return reduced(from, random_between(random, 1, 9), ResampleFilter::binomial);
    default:
      return resized(from, random() % 8 == 0 ? from : to, random_choice(random, filters));
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
  c.from = random_choice(random, kPixelTypes);
  c.to = random_choice(random, kPixelTypes);
  return c;
}

/// A random axis from pixels to cells, numbered from any offset and also outside the pixels; or from cells to
/// pixels, with exactly the cells that the pixels need. Sets the range `first`, `count` of the result.
inline ResampleAxis random_cells(Random& random, std::int64_t pixels, bool to_cells, std::int64_t& first,
                                 std::int64_t& count) {
  const std::int64_t side = random_between(random, 2, 12);
  ResampleAxis axis{.scale = to_cells ? static_cast<double>(side) : 1 / static_cast<double>(side),
                    .filter = ResampleFilter::gaussian,
                    .cells = {random_between(random, 2, 40) * 0.37, side, random_between(random, -20, 20)}};
  if (to_cells) {
    const std::int64_t before = random_between(random, 0, 5);  // cells
    axis.cells.first_cell = axis.cells.first_pixel / side - before;
    axis.from = pixels;
    axis.to = before + pixels / side + random_between(random, 1, 5);
    ResampleWindow begin, end;
    do {
      first = random_between(random, 0, axis.to - 1), count = random_between(random, 1, axis.to - first);
      begin = resample_window(axis, first), end = resample_window(axis, first + count - 1);
    } while (begin.first >= pixels || end.first + end.count <= 0);
    return axis;
  }
  axis.to = pixels;
  first = random_between(random, 0, pixels - 1), count = random_between(random, 1, pixels - first);
  axis.cells.first_cell = resample_window(axis, first).first;
  const ResampleWindow last = resample_window(axis, first + count - 1);
  axis.from = last.first + last.count;
  return axis;
}

inline ResampleCase random_gaussian(Random& random, Extent pixels) {
  constexpr BorderMode modes[] = {BorderMode::constant, BorderMode::replicate, BorderMode::reflect,
                                  BorderMode::reflect101};
  const bool to_cells = random() % 2 == 0;
  const BorderMode mode = random_choice(random, modes);
  ResampleCase c;
  c.resampling.down = random_cells(random, pixels.rows, to_cells, c.out.row, c.out.rows);
  c.resampling.across = random_cells(random, pixels.cols, to_cells, c.out.col, c.out.cols);
  c.resampling.columns_first = to_cells || random() % 2 == 0;
  if (to_cells) c.resampling.border = Border{mode, 7.25};
  c.channels = random_between(random, 1, 5);
  c.from = random_choice(random, kPixelTypes);
  c.to = random_choice(random, kPixelTypes);
  return c;
}

}  // namespace sepconv
