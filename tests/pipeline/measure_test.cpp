// Statistics and comparisons against simple sums, with equal bits for any plan.
#include "pipeline/measure/measure.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"

using namespace sepconv;
using sepconv::test::Image;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// All values of a channel, as doubles, in row-major order.
std::vector<double> values_of(const Image& image, std::int64_t channel) {
  return visit_pixel_type(image.spec().type, [&]<class T>(std::type_identity<T>) {
    std::vector<double> values;
    for (std::int64_t row = 0; row < image.spec().extent.rows; ++row) {
      const T* pixel = image.view().row<T>(row);
      for (std::int64_t col = 0; col < image.spec().extent.cols; ++col) {
        values.push_back(static_cast<double>(pixel[col * image.spec().channels + channel]));
      }
    }
    return values;
  });
}

/// Very different plans for one image.
std::vector<RunOptions> different_plans() {
  std::vector<RunOptions> plans(4);
  plans[0].threads = 1, plans[0].slots = 1;
  plans[1].threads = 3, plans[1].band_rows = 1;
  plans[2].threads = 2, plans[2].band_rows = 7, plans[2].band_cols = 16;
  plans[3].threads = 4, plans[3].slots = 4, plans[3].band_rows = 100;
  return plans;
}

bool same_bits(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// An image with a gradient, in which the caller changes one value.
Image gradient(Extent extent, PixelType type = PixelType::f32) {
  return Image::of_pattern({extent, 1, type}, Pattern::gradient, 0);
}

}  // namespace

TEST_CASE("statistics agree with plain sums, for every type and channel") {
  const PixelType type = GENERATE(from_range(std::begin(kPixelTypes), std::end(kPixelTypes)));
  const std::int64_t channels = GENERATE(1, 3);
  const Image image = Image::of_pattern({{61, 83}, channels, type}, Pattern::noise, 5);
  const auto stats = image_stats(*image.reader());
  REQUIRE(std::ssize(stats) == channels);
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto values = values_of(image, channel);
    const auto& found = stats[static_cast<std::size_t>(channel)];
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    const double squares = std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double v) {
      return sum + (v - mean) * (v - mean);
    });
    CAPTURE(name_of(type), channel);
    CHECK(found.count == std::ssize(values));
    CHECK(found.nan_count == 0);
    CHECK(found.min == *std::min_element(values.begin(), values.end()));
    CHECK(found.max == *std::max_element(values.begin(), values.end()));
    CHECK(found.mean == Approx(mean).epsilon(1e-12));
    CHECK(found.deviation == Approx(std::sqrt(squares / count)).epsilon(1e-12));
    CHECK(std::accumulate(found.histogram.begin(), found.histogram.end(), std::int64_t{0}) == found.count);
  }
}

TEST_CASE("histogram bins of u8 are its values, those of u16 hold 256 each, i16 begins at its least value") {
  Image bytes({{1, 3}, 1, PixelType::u8});
  const std::uint8_t u8[] = {0, 7, 255};
  std::copy(std::begin(u8), std::end(u8), bytes.view().row<std::uint8_t>(0));
  const auto u8_histogram = image_stats(*bytes.reader())[0].histogram;
  CHECK((u8_histogram[0] == 1 && u8_histogram[7] == 1 && u8_histogram[255] == 1));

  Image words({{1, 3}, 1, PixelType::i16});
  const std::int16_t i16[] = {-32768, -1, 32767};
  std::copy(std::begin(i16), std::end(i16), words.view().row<std::int16_t>(0));
  const auto stats = image_stats(*words.reader())[0];
  CHECK((stats.histogram[0] == 1 && stats.histogram[127] == 1 && stats.histogram[255] == 1));
  CHECK((stats.histogram_low == -32768 && stats.histogram_high == 32767));
  CHECK((stats.min == -32768 && stats.max == 32767));
}

TEST_CASE("statistics have the same bits for any plan") {
  const PixelType type = GENERATE(PixelType::u16, PixelType::f32, PixelType::f64);
  // Wide enough for several cells side by side, so that column tiles could change the order of sums.
  const Extent extent = GENERATE(Extent{9, 150001}, Extent{20011, 5}, Extent{301, 257});
  const Image image = Image::of_pattern({extent, 2, type}, Pattern::noise, 9);
  const auto expected = image_stats(*image.reader());
  for (const RunOptions& options : different_plans()) {
    const auto stats = image_stats(*image.reader(), options);
    for (std::size_t channel = 0; channel < 2; ++channel) {
      CHECK(stats[channel].mean == expected[channel].mean);
      CHECK(stats[channel].deviation == expected[channel].deviation);
      CHECK(stats[channel].histogram == expected[channel].histogram);
    }
  }
}

TEST_CASE("not-a-numbers are counted and left out, infinities are values") {
  Image image = gradient({40, 50});
  image.view().row<float>(3)[4] = std::numeric_limits<float>::quiet_NaN();
  image.view().row<float>(39)[49] = std::numeric_limits<float>::quiet_NaN();
  const auto two_nans = image_stats(*image.reader())[0];
  CHECK((two_nans.nan_count == 2 && two_nans.count == 1998));
  CHECK(std::isfinite(two_nans.mean));

  image.view().row<float>(0)[0] = std::numeric_limits<float>::infinity();
  const auto infinite = image_stats(*image.reader())[0];
  CHECK((infinite.max == kInfinity && infinite.mean == kInfinity));
  CHECK(infinite.histogram_high == std::numeric_limits<float>::max());

  std::fill_n(reinterpret_cast<float*>(image.view().data), 2000, std::numeric_limits<float>::quiet_NaN());
  const auto all_nan = image_stats(*image.reader())[0];
  CHECK((all_nan.nan_count == 2000 && all_nan.count == 0 && all_nan.min == 0 && all_nan.max == 0));
}

TEST_CASE("a large offset does not reduce the accuracy of the deviation") {
  Image image({{64, 64}, 1, PixelType::f64});
  for (std::int64_t i = 0; i < 64 * 64; ++i)
    reinterpret_cast<double*>(image.view().data)[i] = 1e9 + static_cast<double>(i % 2);
  CHECK(image_stats(*image.reader())[0].deviation == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("equal images are equal, with infinite PSNR, also where they are not-a-number") {
  const PixelType type = GENERATE(from_range(std::begin(kPixelTypes), std::end(kPixelTypes)));
  const Image a = Image::of_pattern({{33, 47}, 3, type}, Pattern::natural, 1);
  const auto result = compare_images(*a.reader(), *a.reader(), 0);
  CHECK(result.equal());
  CHECK(result.psnr_db == kInfinity);
  CHECK(result.elements == 33 * 47 * 3);
  CHECK_FALSE(result.first.has_value());
}

TEST_CASE("one changed value anywhere is found, placed and measured") {
  const auto [row, col] =
      GENERATE(table<std::int64_t, std::int64_t>({{0, 0}, {299, 0}, {0, 399}, {299, 399}, {150, 201}}));
  const Image a = gradient({300, 400}, PixelType::u8);
  Image b = gradient({300, 400}, PixelType::u8);
  std::uint8_t& value = b.view().row<std::uint8_t>(row)[col];
  value = static_cast<std::uint8_t>(value ^ 0x10);
  for (const RunOptions& options : different_plans()) {
    const auto result = compare_images(*a.reader(), *b.reader(), 0, options);
    REQUIRE(result.first);
    CHECK((result.different == 1 && result.max_difference == 16 && result.first->row == row &&
           result.first->col == col));
    CHECK(result.first->b == value);
    CHECK(result.mean_difference == Approx(16.0 / 120000));
    CHECK(result.psnr_db == Approx(10 * std::log10(255.0 * 255 * 120000 / 256)));
  }
  CHECK(compare_images(*a.reader(), *b.reader(), 16).equal());
  CHECK_FALSE(compare_images(*a.reader(), *b.reader(), 15.5).equal());
}

TEST_CASE(
    "the first difference is the first in row-major order, whichever band or channel found one earlier") {
  const Image a = Image::of_pattern({{50, 150000}, 1, PixelType::u8}, Pattern::gradient, 0);
  Image b = Image::of_pattern({{50, 150000}, 1, PixelType::u8}, Pattern::gradient, 0);
  b.view().row<std::uint8_t>(9)[10] ^= 1;  // an earlier column, a later row
  b.view().row<std::uint8_t>(8)[140000] ^= 1;
  RunOptions column_tiles;
  column_tiles.band_cols = 70000;
  const auto result = compare_images(*a.reader(), *b.reader(), 0, column_tiles);
  REQUIRE(result.first);
  CHECK((result.first->row == 8 && result.first->col == 140000 && result.different == 2));
}

TEST_CASE("not-a-number against a number is infinitely different, against itself not at all") {
  Image a = gradient({4, 4}), b = gradient({4, 4});
  a.view().row<float>(1)[1] = static_cast<float>(kNaN);
  const auto nan_difference = compare_images(*a.reader(), *b.reader(), 1e30);
  CHECK((nan_difference.different == 1 && nan_difference.max_difference == kInfinity));
  CHECK(std::isnan(nan_difference.first.value().a));
  b.view().row<float>(1)[1] = -static_cast<float>(kNaN);  // other bits, also NaN
  CHECK(compare_images(*a.reader(), *b.reader(), 0).equal());
}

TEST_CASE("sums of a comparison have the same bits for any plan") {
  const Extent extent = GENERATE(Extent{7, 150001}, Extent{30011, 3}, Extent{301, 257});
  const Image a = Image::of_pattern({extent, 2, PixelType::f32}, Pattern::noise, 1);
  const Image b = Image::of_pattern({extent, 2, PixelType::f32}, Pattern::noise, 2);
  const auto expected = compare_images(*a.reader(), *b.reader(), 0.25);
  for (const RunOptions& options : different_plans()) {
    const auto result = compare_images(*a.reader(), *b.reader(), 0.25, options);
    CHECK(same_bits(result.mean_difference, expected.mean_difference));
    CHECK(same_bits(result.psnr_db, expected.psnr_db));
    CHECK(result.different == expected.different);
  }
}

TEST_CASE("a second image that comes in rows is read in rows") {
  const Image a = gradient({500, 300}, PixelType::u16);
  std::int64_t next_row = 0;
  int out_of_order = 0;
  const auto rows = make_rows_reader(a.spec(), [&](std::int64_t first_row, const PixelView& out) {
    out_of_order += first_row != std::exchange(next_row, first_row + out.extent.rows);
    copy_pixels(a.view().crop({first_row, 0, out.extent.rows, 300}), out);
  });
  RunOptions options;
  options.band_rows = 32;
  CHECK(compare_images(*a.reader(), *rows, 0, options).equal());
  CHECK(out_of_order == 0);
  CHECK(next_row == 500);
}

TEST_CASE("images of different shape or type, and invalid tolerances, are refused") {
  const Image a = gradient({4, 4}), wider = gradient({4, 5}), other = gradient({4, 4}, PixelType::f64);
  CHECK_THROWS_AS(compare_images(*a.reader(), *wider.reader(), 0), InvalidArgument);
  CHECK_THROWS_AS(compare_images(*a.reader(), *other.reader(), 0), InvalidArgument);
  CHECK_THROWS_AS(compare_images(*a.reader(), *a.reader(), -1), InvalidArgument);
  CHECK_THROWS_AS(compare_images(*a.reader(), *a.reader(), kNaN), InvalidArgument);
}

TEST_CASE("measuring can be cancelled") {
  const Image a = gradient({64, 64});
  std::stop_source stop;
  stop.request_stop();
  RunOptions options;
  options.stop = stop.get_token();
  CHECK_THROWS_AS(image_stats(*a.reader(), options), Cancelled);
  CHECK_THROWS_AS(compare_images(*a.reader(), *a.reader(), 0, options), Cancelled);
}
