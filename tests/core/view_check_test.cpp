#include "core/view_check.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"

using namespace sepconv;
using Catch::Contains;

TEST_CASE("an image needs pixels whose bytes can be counted") {
  const auto check_rejected = [](const ImageSpec& spec, const char* message) {
    CHECK_THROWS_WITH(check_image("the input", spec), Contains("the input has") && Contains(message));
  };
  check_rejected({{0, 0}, 1, PixelType::u8}, "0 rows, 0 columns and 1 channels; give an image with pixels");
  check_rejected({{0, 5}, 1, PixelType::u8}, "0 rows, 5 columns");
  check_rejected({{5, 0}, 1, PixelType::u8}, "5 rows, 0 columns");
  check_rejected({{-3, 5}, 1, PixelType::u8}, "-3 rows");
  check_rejected({{-3, -5}, 1, PixelType::u8}, "-3 rows, -5 columns");
  check_rejected({{5, 5}, 0, PixelType::u8}, "0 channels");
  check_rejected({{5, 5}, -1, PixelType::u8}, "-1 channels");
  check_rejected({{kMaxSide, kMaxSide}, 65536, PixelType::f64}, "do not fit in 64 bits");
  check_rejected({{std::int64_t{1} << 62, 2}, 1, PixelType::u8}, "do not fit in 64 bits");
  CHECK_NOTHROW(check_image("the input", {{1, 1}, 1, PixelType::u8}));
  CHECK_NOTHROW(check_image("the input", {{320'000, 320'000}, 4, PixelType::f64}));
}

TEST_CASE("a view needs memory and rows apart from each other") {
  alignas(8) std::byte memory[64];
  const PixelView good{memory, {3, 5}, 2, PixelType::u16, 20};
  CHECK_NOTHROW(check_view("it", good));
  const auto check_rejected = [&](auto change, const char* message) {
    PixelView view = good;
    change(view);
    CHECK_THROWS_WITH(check_view("it", view), Contains(message));
  };
  check_rejected([](PixelView& v) { v.data = nullptr; }, "it is a null pointer");
  check_rejected([](PixelView& v) { v.data += 1; }, "start at multiples of 2");
  check_rejected([](PixelView& v) { v.pitch_bytes = 18; }, "a pitch of 18 bytes");
  check_rejected([](PixelView& v) { v.pitch_bytes = 21; }, "a pitch of 21 bytes");
  check_rejected([](PixelView& v) { v.pitch_bytes = -20; }, "a pitch of -20 bytes");
  check_rejected([](PixelView& v) { v.pitch_bytes = std::int64_t{1} << 62; }, "a pitch of");
  check_rejected([](PixelView& v) { v.extent.rows = 0; }, "give an image with pixels");
}

TEST_CASE("views overlap where a byte of pixels lies in both") {
  static std::byte memory[4096];
  const auto view = [](std::int64_t at, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
    return PixelView{memory + at, {rows, cols}, 1, PixelType::u8, pitch};
  };
  const auto overlap = [](const PixelView& a, const PixelView& b) {
    try {
      check_apart("a", a, "b", b);
      return false;
    } catch (const InvalidArgument&) {
      return true;
    }
  };
  CHECK(overlap(view(0, 4, 10, 10), view(0, 4, 10, 10)));
  CHECK(overlap(view(0, 4, 10, 10), view(39, 1, 1, 1)));
  CHECK_FALSE(overlap(view(0, 4, 10, 10), view(40, 4, 10, 10)));
  CHECK_FALSE(overlap(view(40, 4, 10, 10), view(0, 4, 10, 10)));
  CHECK_FALSE(overlap(view(0, 4, 10, 20), view(10, 4, 10, 20)));  // side by side
  CHECK(overlap(view(0, 4, 11, 20), view(10, 4, 10, 20)));
  CHECK(overlap(view(0, 4, 10, 20), view(5, 2, 10, 40)));
}
