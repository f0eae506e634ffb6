#include "core/geometry.hpp"

#include <catch2/catch.hpp>

using namespace sepconv;

TEST_CASE("rectangles intersect, include and contain") {
  const Rect a{0, 0, 10, 20};
  const Rect b{5, 15, 10, 20};
  CHECK(a.intersect(b) == Rect{5, 15, 5, 5});
  CHECK(b.intersect(a) == a.intersect(b));
  CHECK(a.include(b) == Rect{0, 0, 15, 35});
  CHECK(a.include(Rect{}) == a);
  CHECK(Rect{}.include(a) == a);
  CHECK(a.intersect({20, 0, 5, 5}).empty());
  CHECK(a.intersect({20, 0, 5, 5}).rows == 0);
  CHECK(a.contains({2, 3, 8, 17}));
  CHECK_FALSE(a.contains({2, 3, 9, 17}));
  CHECK_FALSE(a.contains({-1, 3, 2, 2}));
  CHECK(a.grown(2, 3) == Rect{-2, -3, 14, 26});
}

TEST_CASE("areas beyond 32 bits") {
  CHECK(Extent{65536, 65536}.area() == 4294967296);
  CHECK(Rect::whole({kMaxSide, kMaxSide}).area() == kMaxSide * kMaxSide);
  CHECK(kMaxSide * kMaxSide > 0);
}

TEST_CASE("rounding up") {
  CHECK(round_up(0, 64) == 0);
  CHECK(round_up(1, 64) == 64);
  CHECK(round_up(64, 64) == 64);
  CHECK(round_up(65, 64) == 128);
  CHECK(ceil_div(7, 3) == 3);
}
