// deviation_host and deviation_cuda against the reference, bit for bit.
#include "sepconv/kernels/window/deviation.hpp"

#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "cuda_case.hpp"
#include "sepconv/core/error.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

struct DeviationCase {
  explicit DeviationCase(Random& random)
      : extent{random_between(random, 1, 9), random_between(random, 1, 700)},
        channels(random_between(random, 1, 3)),
        means(extent, channels, PixelType::f64),
        squares(extent, channels, PixelType::f64),
        pixels(extent, channels, random_of(random, kPixelTypes)),
        to(random_between(random, 0, 1) == 0 ? PixelType::f32 : PixelType::f64),
        measures(random_between(random, 0, 1) == 0),
        least(random_between(random, 0, 1) == 0 ? 0 : 40) {
    fill_random(means.view(), random, true);
    fill_random(squares.view(), random, true);
    fill_random(pixels.view(), random, true);
    for (std::int64_t i = 0; i < means.view().row_elements(); i += 3)
      means.view().row<double>(0)[i] = squares.view().row<double>(0)[i] = 0;  // nothing deviates
  }

  Extent extent;
  std::int64_t channels;
  FramedImage means, squares, pixels;
  PixelType to;
  bool measures;
  double least;
};

template <class Run>
FramedImage made_by(const DeviationCase& c, const Run& run) {
  FramedImage made(c.extent, c.channels, c.to);
  run(made);
  return made;
}

WindowMoments moments_of(const DeviationCase& c, const ConstPixelView& means, const ConstPixelView& squares,
                         const ConstPixelView& pixels) {
  WindowMoments moments{.means = means, .squares = squares, .least = c.least};
  if (c.measures) moments.pixels = pixels;
  return moments;
}

FramedImage expected_of(const DeviationCase& c) {
  return made_by(c, [&](const FramedImage& made) {
    deviation_reference(moments_of(c, c.means.view(), c.squares.view(), c.pixels.view()), made.view());
  });
}

}  // namespace

TEST_CASE("deviation_host has the reference's bits: special values, types, instruction sets") {
  Random random(71);
  for (int i = 0; i < 60; ++i) {
    const DeviationCase c(random);
    const FramedImage expected = expected_of(c);
    for (const std::string& target : simd_targets()) {
      const ForcedTarget forced(target);
      REQUIRE(same_pixels(expected, made_by(c, [&](const FramedImage& made) {
                            deviation_host(moments_of(c, c.means.view(), c.squares.view(), c.pixels.view()),
                                           made.view());
                          })));
    }
  }
}

TEST_CASE("deviation_cuda has the reference's bits: special values and types", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(72);
  for (int i = 0; i < 30; ++i) {
    const DeviationCase c(random);
    const Stream stream;
    const DeviceImage means(c.means.all.view, stream.get()), squares(c.squares.all.view, stream.get()),
        pixels(c.pixels.all.view, stream.get());
    const FramedImage actual = made_by(c, [&](const FramedImage& made) {
      const DeviceImage result(made.all.view, stream.get());
      deviation_cuda(moments_of(c, means.view().crop(c.means.inside), squares.view().crop(c.squares.inside),
                                pixels.view().crop(c.pixels.inside)),
                     result.view().crop(made.inside), stream.get());
      result.download(made.all.view, stream);
    });
    REQUIRE(same_pixels(expected_of(c), actual));
  }
}

TEST_CASE("deviations of what does not fit are refused") {
  Image means({2, 3}, 1, PixelType::f64), other({3, 3}, 1, PixelType::f64), out({2, 3}, 1, PixelType::u8);
  CHECK_THROWS_AS(deviation_host({.means = means.view, .squares = other.view}, means.view), InvalidArgument);
  CHECK_THROWS_AS(deviation_host({.means = means.view, .squares = means.view}, out.view), InvalidArgument);
}
