// deviation_host and deviation_cuda against the reference, bit for bit.
#include "sepconv/kernels/window/deviation.hpp"

#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "cuda_case.hpp"
#include "sepconv/core/error.hpp"
#include "window_case.hpp"

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

TEST_CASE("Deviations of windows, made at once: the bits of the references of windows and of deviations") {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    WindowCase c = random_window_case(random, i % 4 == 0 ? 60 : 24, i % 4 == 0 ? 95 : 6);
    c.window = {.op = Window::Op::sum,
                .radius_x = c.window.radius_x,
                .radius_y = c.window.radius_y,
                .of = Window::Of::squares,
                .columns_first = c.window.columns_first};
    c.window.divisor = ones_of_window(c.window, Arithmetic::f64);
    if (!walks_moments(c.border)) c.border.value = 0;
    if (!is_floating(c.to)) c.to = PixelType::f32;
    const std::optional<double> least = i % 2 == 0 ? std::nullopt : std::optional(i % 3 * 20.0);
    const Rect rect = needed_rect(c);
    Image own(rect.extent(), c.channels, c.from, 0);
    fill_random(own.view, random, c.special);
    const ConstRegion in{own.view, rect, c.image};
    const auto mean_of = [&](Window::Of of) {
      Image made(c.out.extent(), c.channels, PixelType::f64);
      Window window = c.window;
      window.of = of;
      window_reference(window, c.border, in, {made.view, c.out, c.image}, Arithmetic::f64);
      return made;
    };
    const Image means = mean_of(Window::Of::values), squares = mean_of(Window::Of::squares);
    WindowMoments moments{.means = means.view, .squares = squares.view, .least = least.value_or(0)};
    if (least) moments.pixels = in.crop(c.out).pixels;
    Image expected(c.out.extent(), c.channels, c.to), actual(c.out.extent(), c.channels, c.to);
    deviation_reference(moments, expected.view);
    Worker worker(Buffer(window_deviation_scratch_bytes(c.window, c.out.extent(), c.channels)));
    for (const std::string& target : simd_targets()) {
      const ForcedTarget forced(target);
      window_deviation_host(c.window, least, c.border, in, {actual.view, c.out, c.image}, worker);
      INFO(c << (least ? ", contrast" : "") << " on " << target);
      REQUIRE(differing_elements(expected.view, actual.view) == 0);
      REQUIRE(worker.used_bytes() == 0);
    }
  }
}

TEST_CASE("Deviations of windows, made at once: what they are not made of is refused") {
  Image image({4, 4}, 1, PixelType::f32);
  Worker worker;
  const Window window{.op = Window::Op::sum, .radius_x = 1, .of = Window::Of::squares};
  const auto run = [&](const Window& of, const Border& border) {
    window_deviation_host(of, {}, border, ConstRegion::whole(image.view), Region::whole(image.view), worker);
  };
  CHECK(!walks_moments({BorderMode::constant, 3}));
  CHECK_THROWS_AS(run(window, {BorderMode::constant, 3}), InvalidArgument);
  CHECK_THROWS_AS(run({.op = Window::Op::sum, .radius_x = 1}, {}), InvalidArgument);
}
