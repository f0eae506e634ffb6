#include "core/pixel_type.hpp"

#include <catch2/catch.hpp>

#include "core/image.hpp"

using namespace sepconv;

TEST_CASE("names, sizes and C++ types of the pixel types agree") {
  for (const PixelType type : kPixelTypes) {
    CHECK(parse_pixel_type(name_of(type)) == type);
    visit_pixel_type(type, [type]<class T>(std::type_identity<T>) {
      CHECK(pixel_type_of<T>() == type);
      CHECK(size_of(type) == sizeof(T));
      CHECK(is_floating(type) == std::is_floating_point_v<T>);
    });
  }
  CHECK_FALSE(parse_pixel_type("u32"));
  CHECK(name_of(Arithmetic::f64) == "f64");
}

TEST_CASE("a crop of a view points at its pixels") {
  std::uint16_t pixels[4 * 5 * 2];
  for (int i = 0; i < 40; ++i) pixels[i] = static_cast<std::uint16_t>(i);
  const PixelView view = view_of(pixels, {4, 5}, 2);
  CHECK(view.contiguous());
  const PixelView part = view.crop({1, 2, 2, 3});
  CHECK_FALSE(part.contiguous());
  CHECK(part.row<std::uint16_t>(0)[0] == 1 * 10 + 2 * 2);
  CHECK(part.row<std::uint16_t>(1)[5] == 2 * 10 + 2 * 2 + 5);
  const Region region = Region::whole(view).crop({1, 2, 2, 3}).crop({2, 3, 1, 1});
  CHECK(region.pixels.row<std::uint16_t>(0)[0] == 2 * 10 + 3 * 2);
  CHECK(region.image == Extent{4, 5});
}
