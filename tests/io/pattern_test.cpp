#include <catch2/catch.hpp>
#include <cmath>

#include "io/test_pattern.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

constexpr Pattern kPatterns[] = {Pattern::natural, Pattern::gradient, Pattern::checkerboard, Pattern::impulse,
                                 Pattern::noise};

/// FNV-1a hash of the pixels, row by row.
std::uint64_t hash_of(const ConstPixelView& image) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (std::int64_t row = 0; row < image.extent.rows; ++row) {
    for (std::int64_t i = 0; i < image.row_bytes(); ++i) {
      hash = (hash ^ std::to_integer<std::uint64_t>(image.row_data(row)[i])) * 0x100000001B3u;
    }
  }
  return hash;
}

TEST_CASE("Patterns have names") {
  for (const Pattern pattern : kPatterns) CHECK(parse_pattern(name_of(pattern)) == pattern);
  CHECK_FALSE(parse_pattern("nature").has_value());
}

TEST_CASE("A pattern's pixels do not depend on the requested rectangle") {
  for (const Pattern pattern : kPatterns) {
    for (const PixelType type : kPixelTypes) {
      for (const std::int64_t channels : {1, 3}) {
        for (const Extent extent : {Extent{1, 1}, Extent{2, 3}, Extent{257, 129}, Extent{70, 4099}}) {
          CAPTURE(name_of(pattern), name_of(type), channels, extent.rows, extent.cols);
          const auto reader = make_pattern_reader({extent, channels, type}, pattern, 11);
          REQUIRE(reads_everywhere(*reader, read_all(*reader)));
        }
      }
    }
  }
}

TEST_CASE("Random rectangles of the natural pattern fit together") {
  const auto reader = make_pattern_reader({{2000, 9000}, 1, PixelType::u8}, Pattern::natural, 3);
  const TestImage whole = read_all(*reader);
  std::mt19937 random(4);
  const auto random_below = [&random](std::int64_t bound) {
    return static_cast<std::int64_t>(random()) % bound;
  };
  for (int round = 0; round < 300; ++round) {
    const Rect rect =
        Rect{random_below(2000), random_below(9000), 1 + random_below(200), 1 + random_below(600)}.intersect(
            Rect::whole({2000, 9000}));
    CAPTURE(to_string(rect));
    REQUIRE(same_pixels(read_rect(*reader, rect).view(), whole.view().crop(rect)));
  }
}

TEST_CASE("Patterns far out: positions beyond 2^31 elements are computed like others") {
  const ImageSpec spec{{kMaxSide, kMaxSide}, 1, PixelType::u16};
  for (const Pattern pattern : kPatterns) {
    const auto reader = make_pattern_reader(spec, pattern, 5);
    const Rect corner{kMaxSide - 300, kMaxSide - 400, 300, 400};
    const TestImage whole = read_rect(*reader, corner);
    const TestImage last = read_rect(*reader, {kMaxSide - 7, kMaxSide - 11, 7, 11});
    CHECK(same_pixels(last.view(), whole.view().crop({293, 389, 7, 11})));
  }
}

TEST_CASE("The same bytes on every machine") {
  const auto hash = [](Pattern pattern, PixelType type) {
    return hash_of(read_all(*make_pattern_reader({{300, 500}, 2, type}, pattern, 42)).view());
  };
  // Recorded values. A change of them changes the images of users' seeds and needs an entry in the CHANGELOG.
  CHECK(hash(Pattern::natural, PixelType::u8) == 0x3E66E6FD33D7FE8Fu);
  CHECK(hash(Pattern::natural, PixelType::f32) == 0x8FF11FBC47091B54u);
  CHECK(hash(Pattern::noise, PixelType::i16) == 0xE0E8F65A5F0B378Du);
  CHECK(hash(Pattern::noise, PixelType::f64) == 0x8C156679EAC80BF7u);
  CHECK(hash(Pattern::gradient, PixelType::f32) == 0x49D93A3FA2025E95u);
}

TEST_CASE("Seeds and channels differ") {
  for (const Pattern pattern : {Pattern::natural, Pattern::noise}) {
    const ImageSpec spec{{64, 64}, 2, PixelType::u8};
    const TestImage a = read_all(*make_pattern_reader(spec, pattern, 1));
    CHECK_FALSE(same_pixels(a.view(), read_all(*make_pattern_reader(spec, pattern, 2)).view()));
    std::int64_t same = 0;
    for (std::int64_t col = 0; col < 64; ++col)
      same += a.view().row<std::uint8_t>(9)[2 * col] == a.view().row<std::uint8_t>(9)[2 * col + 1];
    CHECK(same < 32);
  }
}

TEST_CASE("The natural pattern has a wide range, similar neighbours and edges") {
  const TestImage image =
      read_all(*make_pattern_reader({{1024, 1024}, 1, PixelType::u8}, Pattern::natural, 0));
  double sum = 0, sum_of_squares = 0;
  std::int64_t dark = 0, light = 0, similar = 0, edges = 0;
  for (std::int64_t row = 0; row < 1024; ++row) {
    const std::uint8_t* const pixels = image.view().row<std::uint8_t>(row);
    for (std::int64_t col = 0; col < 1023; ++col) {
      sum += pixels[col], sum_of_squares += pixels[col] * pixels[col];
      dark += pixels[col]<40, light += pixels[col]> 215;
      const int step = std::abs(pixels[col] - pixels[col + 1]);
      similar += step <= 8, edges += step >= 40;
    }
  }
  const double count = 1024.0 * 1023.0, mean = sum / count,
               deviation = std::sqrt(sum_of_squares / count - mean * mean);
  CHECK(mean == Approx(127).margin(25));
  CHECK(deviation > 45);
  CHECK(deviation < 80);
  CHECK(std::min(dark, light) > 20'000);
  CHECK(similar > 0.95 * count);
  CHECK(edges > 2'000);
}

TEST_CASE("Gradient, checkerboard and impulse have the values that they are defined by") {
  const auto value_at = [](Pattern pattern, std::int64_t row, std::int64_t col) {
    return read_rect(*make_pattern_reader({{101, 201}, 1, PixelType::i16}, pattern, 0), {row, col, 1, 1})
        .view()
        .row<std::int16_t>(0)[0];
  };
  CHECK(value_at(Pattern::gradient, 0, 0) == -32768);
  CHECK(value_at(Pattern::gradient, 100, 200) == 32767);
  CHECK(value_at(Pattern::gradient, 100, 50) == 0);  // midpoint: -0.5, rounded up
  CHECK(value_at(Pattern::checkerboard, 0, 7) == 0);
  CHECK(value_at(Pattern::checkerboard, 0, 8) == 32767);
  CHECK(value_at(Pattern::checkerboard, 8, 8) == 0);
  CHECK(value_at(Pattern::impulse, 50, 100) == 32767);
  CHECK(value_at(Pattern::impulse, 50, 101) == 0);
  CHECK(value_at(Pattern::impulse, 49, 100) == 0);

  const TestImage ramp = read_all(*make_pattern_reader({{3, 3}, 1, PixelType::f32}, Pattern::gradient, 0));
  CHECK(ramp.view().row<float>(1)[0] == 0.25f);
  CHECK(ramp.view().row<float>(2)[2] == 1.0f);
}

TEST_CASE("Noise is uniform") {
  const TestImage image = read_all(*make_pattern_reader({{512, 512}, 1, PixelType::f32}, Pattern::noise, 9));
  double sum = 0, sum_of_squares = 0;
  for (std::int64_t row = 0; row < 512; ++row) {
    for (std::int64_t col = 0; col < 512; ++col) {
      const double value = image.view().row<float>(row)[col];
      REQUIRE((value >= 0 && value < 1));
      sum += value, sum_of_squares += value * value;
    }
  }
  const double count = 512.0 * 512.0;
  CHECK(sum / count == Approx(0.5).margin(0.005));
  CHECK(sum_of_squares / count == Approx(1.0 / 3).margin(0.005));
}

}  // namespace
}  // namespace sepconv
