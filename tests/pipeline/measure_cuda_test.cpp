// Statistics on a GPU are bit-identical to those of the CPU.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/measure/measure.hpp"

using namespace sepconv;
using sepconv::test::Image;

namespace {

/// Equal bits, or both NaN.
bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

void check_same(const std::vector<ChannelStats>& found, const std::vector<ChannelStats>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t channel = 0; channel < found.size(); ++channel) {
    const ChannelStats& a = found[channel];
    const ChannelStats& b = expected[channel];
    CAPTURE(channel, a.mean, b.mean, a.deviation, b.deviation);
    CHECK((a.count == b.count && a.nan_count == b.nan_count));
    CHECK((same_bits(a.min, b.min) && same_bits(a.max, b.max)));
    CHECK(same_bits(a.mean, b.mean));
    CHECK(same_bits(a.deviation, b.deviation));
    CHECK((same_bits(a.histogram_low, b.histogram_low) && same_bits(a.histogram_high, b.histogram_high)));
    CHECK(a.histogram == b.histogram);
  }
}

RunOptions on_gpu() {
  RunOptions options;
  options.devices = {0};
  return options;
}

void check_image(const Image& image, RunOptions options = on_gpu()) {
  check_same(image_stats(*image.reader(), options), image_stats(*image.reader()));
}

}  // namespace

TEST_CASE("statistics on a GPU are those of the CPU, for every type, channel and size", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kPixelTypes), std::end(kPixelTypes)));
  const std::int64_t channels = GENERATE(1, 2, 3, 70);  // 70: tables beyond shared memory
  // Sizes around one SIMD lane and one cell, several cells side by side, several cells one below another.
  const Extent extent = GENERATE(Extent{1, 1}, Extent{3, 127}, Extent{5, 128}, Extent{2, 129}, Extent{61, 83},
                                 Extent{3, 150001}, Extent{20011, 5});
  if (channels == 70 && extent.area() > 10000) return;
  CAPTURE(name_of(type), channels, extent.rows, extent.cols);
  check_image(Image::of_pattern({extent, channels, type}, Pattern::noise, 5));
}

TEST_CASE("statistics on a GPU of smooth and of constant images, where all threads count one value",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kPixelTypes), std::end(kPixelTypes)));
  check_image(Image::of_pattern({{700, 1100}, 1, type}, Pattern::natural, 3));
  check_image(Image::of_pattern({{700, 1100}, 3, type}, Pattern::checkerboard, 3));
  Image zeros({{300, 501}, 1, type});
  std::memset(zeros.view().data, 0, static_cast<std::size_t>(zeros.spec().bytes()));
  check_image(zeros);
}

TEST_CASE("statistics on a GPU: not-a-numbers, infinities, signed zeros and the range of f64", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Image image = Image::of_pattern({{90, 700}, 1, PixelType::f64}, Pattern::gradient, 0);
  double* const first = image.view().row<double>(0);
  std::fill_n(first, 400, -0.0), first[200] = 0.0;
  check_image(image);
  image.view().row<double>(3)[4] = std::numeric_limits<double>::quiet_NaN();
  image.view().row<double>(50)[699] = -std::numeric_limits<double>::max();
  image.view().row<double>(51)[1] = std::numeric_limits<double>::max();
  check_image(image);
  image.view().row<double>(89)[3] = std::numeric_limits<double>::infinity();
  check_image(image);
  std::fill_n(first, 90 * 700, std::numeric_limits<double>::quiet_NaN());
  check_image(image);
}

TEST_CASE("statistics on a GPU have the same bits for any bands and in little memory", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(PixelType::u8, PixelType::f32);
  const Image image = Image::of_pattern({{2500, 3001}, 2, type}, Pattern::noise, 9);
  RunOptions options = on_gpu();
  SECTION("low bands, one slot") { options.band_rows = 7, options.slots = 1; }
  SECTION("narrow bands") { options.band_rows = 300, options.band_cols = 500; }
  SECTION("little device memory: a cell a piece") { options.max_device_memory_bytes = 2 << 20; }
  check_image(image, options);
}

TEST_CASE("statistics on a GPU say how much device memory they need at least", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image image = Image::of_pattern({{400, 400}, 1, PixelType::u16}, Pattern::noise, 9);
  RunOptions options = on_gpu();
  options.max_device_memory_bytes = 1000;
  CHECK_THROWS_AS(image_stats(*image.reader(), options), OutOfMemory);
}

TEST_CASE("statistics on a GPU can be cancelled, and pass on what the reader throws", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const ImageSpec spec{{4000, 1000}, 1, PixelType::f32};
  const auto failing = make_rows_reader(spec, [](std::int64_t first_row, const PixelView& out) {
    if (first_row > 2000) throw std::runtime_error("the reader's own");
    for (std::int64_t row = 0; row < out.extent.rows; ++row)
      std::memset(out.row_data(row), 0, static_cast<std::size_t>(out.row_bytes()));
  });
  RunOptions options = on_gpu();
  options.band_rows = 100;
  CHECK_THROWS_WITH(image_stats(*failing, options), "the reader's own");
  std::stop_source stop;
  stop.request_stop();
  options.stop = stop.get_token();
  CHECK_THROWS_AS(image_stats(*Image::of_pattern(spec, Pattern::noise, 1).reader(), options), Cancelled);
}

TEST_CASE("statistics on a GPU that is not there are refused") {
  if (!list_devices().empty()) return;  // a GPU exists
  const Image image = Image::of_pattern({{40, 40}, 1, PixelType::u8}, Pattern::noise, 9);
  CHECK_THROWS_AS(image_stats(*image.reader(), on_gpu()), InvalidArgument);
}
