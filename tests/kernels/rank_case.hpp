// Rank filter cases for the kernel tests: windows of any size and anchor, every border, parts of an image.
#pragma once

#include <string>

#include "cuda_case.hpp"
#include "kernels/rank/rank.hpp"

namespace sepconv {

struct RankCase {
  RankFilter filter;
  Border border;
  Extent image;
  std::int64_t channels = 1;
  Rect out;
  PixelType from = PixelType::u8, to = PixelType::u8;
  bool missing = false;  ///< some pixels are NaN, infinite or -0

  Rect in() const { return filter.window.needed(out).intersect(Rect::whole(image)); }

  std::string text() const {
    const auto& [left, right, up, down, front, back] = filter.window;
    return "rank " + std::to_string(filter.rank) + " of " + std::to_string(left) + "+1+" +
           std::to_string(right) + " x " + std::to_string(up) + "+1+" + std::to_string(down) + " x " +
           std::to_string(front) + "+1+" + std::to_string(back) + ", policy " +
           std::to_string(static_cast<int>(filter.missing)) + ", border " +
           std::string(name_of(border.mode)) + " " + std::to_string(border.value) + ", " +
           std::to_string(channels) + " channels, " + to_string(out) + " of " + std::to_string(image.rows) +
           " x " + std::to_string(image.cols) + " from " + std::string(name_of(from)) + " to " +
           std::string(name_of(to)) + (missing ? ", NaN and other special values" : "");
  }
};

/// A random case with a window of up to 2 * `max_radius` + 1 pixels on a side.
inline RankCase random_rank(Random& random, Extent image, std::int64_t max_radius) {
  RankCase c;
  const auto side = [&] { return random_between(random, 0, max_radius); };
  const RankWindow window{side(), side(), side(), side()};
  c.filter = RankFilter(window, random_between(random, 0, window.area() - 1),
                        static_cast<RankMissing>(random_between(random, 0, 2)));
  constexpr double kConstants[] = {9, 7.5, 300, -0.0};  // some types cannot represent 7.5 or 300
  c.border = {static_cast<BorderMode>(random_between(random, 0, 3)), random_choice(random, kConstants)};
  c.image = {random_between(random, 1, image.rows), random_between(random, 1, image.cols)};
  c.channels = random_between(random, 1, 4);
  c.out.row = random_between(random, 0, c.image.rows - 1) / 2;
  c.out.col = random_between(random, 0, c.image.cols - 1) / 2;
  c.out.rows = random_between(random, 1, c.image.rows - c.out.row);
  c.out.cols = random_between(random, 1, c.image.cols - c.out.col);
  c.from = random_choice(random, kPixelTypes);
  c.to = random_choice(random, kPixelTypes);
  c.missing = random() % 2 == 0;
  return c;
}

/// The same with a window over several planes. An image with border wrap is filtered as a whole.
inline RankCase random_volume_rank(Random& random, Extent image, std::int64_t max_radius) {
  RankCase c = random_rank(random, image, max_radius);
  RankWindow window = c.filter.window;
  window.front = random_between(random, 0, max_radius);
  window.back = random_between(random, 0, max_radius);
  c.filter = RankFilter(window, random_between(random, 0, window.area() - 1), c.filter.missing);
  if (random() % 4 == 0) c.border.mode = BorderMode::wrap, c.out = Rect::whole(c.image);
  return c;
}

/// Fills with random values, many of them equal.
inline void fill_ranked(const PixelView& view, Random& random, bool special) {
  fill_random(view, random, special);
  visit_pixel_type(view.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < view.extent.rows; ++row)
      for (std::int64_t i = 0; i < view.row_elements(); ++i)
        if (random() % 3 == 0) view.row<T>(row)[i] = static_cast<T>(random() % 8);
  });
}

}  // namespace sepconv
