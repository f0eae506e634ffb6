// Every convolution variant against the reference, bit for bit (NaN equals NaN), with poison around the
// result; and an image processed on the device in bands. On the simulated GPU the same file tests the order
// of the bands.
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "bench/conv/tiled_convolver.hpp"
#include "conv_case.hpp"
#include "core/error.hpp"
#include "cuda_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

constexpr ConvVariant kVariants[] = {ConvVariant::naive, ConvVariant::constant_taps,
                                     ConvVariant::shared_tile};
// Around a block of 32 x 32, primes, narrow and short images.
constexpr Extent kExtents[] = {{1, 1},   {1, 97},  {97, 1},  {2, 3},   {31, 33},  {32, 32},
                               {33, 31}, {61, 67}, {7, 500}, {500, 7}, {130, 129}};

ConvolutionCase zero_border_case(Random& random, Extent image, std::int64_t row_radius,
                                 std::int64_t col_radius, Arithmetic arithmetic) {
  ConvolutionCase c;
  c.taps.row = random_taps(random, row_radius);
  c.taps.col = random_taps(random, col_radius);
  c.border = {BorderMode::constant, 0};
  c.image = image, c.out = Rect::whole(image);
  c.from = c.to = pixel_type_of(arithmetic), c.arithmetic = arithmetic;
  return c;
}

void check_variant(ConvVariant variant, const ConvolutionCase& c, Random& random) {
  FramedImage source(c.image, 1, c.from), expected(c.image, 1, c.to), actual(c.image, 1, c.to);
  fill_random(source.view(), random, c.special);
  convolve_expected(c, ConstRegion::whole(source.view()), expected.view());

  const Stream stream;
  const DeviceImage in(source.all.view, stream.get());
  const DeviceImage out(actual.all.view, stream.get());
  const VariantConvolver convolver(c.taps, c.image, c.arithmetic);
  convolver.load(in.view().crop(source.inside), stream.get());
  convolver.convolve(variant, out.view().crop(actual.inside), stream.get());
  out.download(actual.all.view, stream);
  INFO("variant " << static_cast<int>(variant) + 1 << ", " << c);
  REQUIRE(same_pixels(expected, actual));
}

/// Convolves an image in bands of `tile_rows` rows and compares it with the reference.
void check_tiled(const ConvolutionCase& c, Random& random, std::int64_t tile_rows, int streams) {
  const TiledConvolverImage image(c.taps.row_radius(), c.taps.col_radius(), c.image, c.arithmetic);
  const TiledConvolver tiled(image, c.taps, ConvVariant::shared_tile, tile_rows * c.image.cols, streams);
  Image expected(c.image, 1, c.to, 0);
  for (int run = 0; run < 2; ++run) {  // the second run reuses the bands' buffers with the data of the first
    fill_random(image.source(), random, false);
    convolve_expected(c, ConstRegion::whole(image.source()), expected.view);
    std::memset(image.result().data, 0xA5, static_cast<std::size_t>(expected.buffer.size()));
    tiled.run();
    INFO(tile_rows << " rows a band, " << streams << " streams, run " << run << ", " << c);
    REQUIRE(tiled.band_rows() == std::min(tile_rows, c.image.rows));
    REQUIRE(differing_elements(expected.view, image.result()) == 0);
  }
}

}  // namespace

TEST_CASE("every convolution variant has the reference's bits", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(81);
  for (const Extent extent : kExtents) {
    for (const std::int64_t radius : {0, 1, 2, 15, 16, 17, 33, 80}) {
      for (const Arithmetic arithmetic : kArithmetics) {
        ConvolutionCase c = zero_border_case(random, extent, radius, radius, arithmetic);
        c.special = radius % 2 == 1;
        for (const ConvVariant variant : kVariants) check_variant(variant, c, random);
      }
    }
  }
}

TEST_CASE("every convolution variant has the reference's bits: two radii", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(82);
  for (const ConvVariant variant : kVariants) {
    for (const Arithmetic arithmetic : kArithmetics) {
      check_variant(variant, zero_border_case(random, {41, 70}, 3, 19, arithmetic), random);
      check_variant(variant, zero_border_case(random, {35, 33}, 80, 1, arithmetic), random);
    }
  }
}

TEST_CASE("the convolution variants in bands have the reference's bits", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(83);
  for (const int streams : {1, 2, 3}) {
    for (const std::int64_t tile_rows : {1, 4, 7, 50, 1000}) {
      for (const Arithmetic arithmetic : kArithmetics) {
        check_tiled(zero_border_case(random, {53, 29}, 2, 5, arithmetic), random, tile_rows, streams);
        check_tiled(zero_border_case(random, {17, 64}, 40, 30, arithmetic), random, tile_rows, streams);
      }
    }
  }
}

TEST_CASE("the convolution variants report their memory") {
  CHECK(VariantConvolver::device_bytes(2, 3, {10, 20}, Arithmetic::f64) == 8 * (10 * 24 + 16 * 20));
  CHECK(TiledConvolverImage::host_bytes(2, 3, {10, 20}, Arithmetic::f32) ==
        4 * (10 * 24 + 16 * 20 + 10 * 20));
  // Bands of 5 rows: the column pass reads 11 rows of 20, the row pass 5 of 24.
  CHECK(TiledConvolver::device_bytes(2, 3, {10, 20}, Arithmetic::f32, 100, 2) == 2 * 4 * (11 * 20 + 5 * 20));
}

TEST_CASE("the benchmark's kernels reject unsupported images", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Random random(84);
  const SeparableTaps taps{random_taps(random, 2), random_taps(random, 2)};
  const VariantConvolver convolver(taps, {4, 5}, Arithmetic::f32);
  const Stream stream;
  const Image host({4, 6}, 1, PixelType::f32), other({4, 5}, 1, PixelType::f64);
  const DeviceImage wide(host.view, stream.get()), f64(other.view, stream.get());
  stream.synchronize();
  CHECK_THROWS_AS(convolver.load(wide.view(), stream.get()), InvalidArgument);
  CHECK_THROWS_AS(convolver.load(f64.view(), stream.get()), InvalidArgument);
  CHECK_THROWS_AS(convolver.convolve(ConvVariant::naive, wide.view(), stream.get()), InvalidArgument);
  CHECK_THROWS_AS(convolver.convolve(ConvVariant::naive, f64.view(), stream.get()), InvalidArgument);
}

TEST_CASE("the convolution variants accept an odd number of taps, up to radius 80") {
  CHECK_THROWS_AS(VariantTaps(std::vector<double>(4, 1.0), Arithmetic::f32), InvalidArgument);
  CHECK_THROWS_AS(VariantTaps({}, Arithmetic::f32), InvalidArgument);
  CHECK_THROWS_AS(VariantTaps(std::vector<double>(163, 1.0), Arithmetic::f64), InvalidArgument);
}
