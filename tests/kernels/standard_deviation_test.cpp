// deviation_host and deviation_device against the reference, bit for bit.
#include "kernels/sliding_window/standard_deviation.hpp"

#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "core/error.hpp"
#include "cuda_case.hpp"
#include "sliding_window_case.hpp"

using namespace sepconv;
using test::DeviceImage;

namespace {

struct DeviationCase {
  explicit DeviationCase(Random& random)
      : extent{random_between(random, 1, 9), random_between(random, 1, 700)},
        channels(random_between(random, 1, 3)),
        counts(extent, channels, PixelType::f64),
        sums(extent, channels, PixelType::f64),
        squares(extent, channels, PixelType::f64),
        pixels(extent, channels, random_choice(random, kPixelTypes)),
        to(random_between(random, 0, 1) == 0 ? PixelType::f32 : PixelType::f64),
        has_pixels(random_between(random, 0, 1) == 0),
        least(random_between(random, 0, 1) == 0 ? 0 : 40) {
    fill_random(counts.view(), random, true);
    fill_random(sums.view(), random, true);
    fill_random(squares.view(), random, true);
    fill_random(pixels.view(), random, true);
    for (std::int64_t i = 0; i < sums.view().row_elements(); i += 3)
      sums.view().row<double>(0)[i] = squares.view().row<double>(0)[i] = 0;  // deviation 0
  }

  Extent extent;
  std::int64_t channels;
  FramedImage counts, sums, squares, pixels;
  PixelType to;
  bool has_pixels;
  double least;
};

template <class Run>
FramedImage result_of(const DeviationCase& c, const Run& run) {
  FramedImage computed(c.extent, c.channels, c.to);
  run(computed);
  return computed;
}

WindowMoments moments_of(const DeviationCase& c, const ConstPixelView& counts, const ConstPixelView& sums,
                         const ConstPixelView& squares, const ConstPixelView& pixels) {
  WindowMoments moments{.sums = sums, .squares = squares, .count = 49, .least = c.least};
  if (c.extent.cols % 2 == 0) moments.counts = counts;
  if (c.has_pixels) moments.pixels = pixels;
  return moments;
}

/// Moves pixels far from 0, where sums of squares lose the deviation to rounding.
void move_away(const PixelView& view, double offset) {
  for (std::int64_t row = 0; row < view.extent.rows; ++row)
    for (std::int64_t i = 0; i < view.row_elements(); ++i) {
      if (view.type == PixelType::f32) view.row<float>(row)[i] += static_cast<float>(offset);
      if (view.type == PixelType::f64) view.row<double>(row)[i] += offset;
    }
}

FramedImage expected_of(const DeviationCase& c) {
  return result_of(c, [&](const FramedImage& computed) {
    deviation_reference(moments_of(c, c.counts.view(), c.sums.view(), c.squares.view(), c.pixels.view()),
                        computed.view());
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
      REQUIRE(same_pixels(expected, result_of(c, [&](const FramedImage& computed) {
                            deviation_host(moments_of(c, c.counts.view(), c.sums.view(), c.squares.view(),
                                                      c.pixels.view()),
                                           computed.view());
                          })));
    }
  }
}

TEST_CASE("deviation_device has the reference's bits: special values and types", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  Random random(72);
  for (int i = 0; i < 30; ++i) {
    const DeviationCase c(random);
    const Stream stream;
    const DeviceImage counts(c.counts.all.view, stream.get()), sums(c.sums.all.view, stream.get()),
        squares(c.squares.all.view, stream.get()), pixels(c.pixels.all.view, stream.get());
    const FramedImage actual = result_of(c, [&](const FramedImage& computed) {
      const DeviceImage result(computed.all.view, stream.get());
      deviation_device(moments_of(c, counts.view().crop(c.counts.inside), sums.view().crop(c.sums.inside),
                                  squares.view().crop(c.squares.inside), pixels.view().crop(c.pixels.inside)),
                       result.view().crop(computed.inside), stream.get());
      result.download(computed.all.view, stream);
    });
    REQUIRE(same_pixels(expected_of(c), actual));
  }
}

TEST_CASE("deviations of what does not fit are refused") {
  Image sums({2, 3}, 1, PixelType::f64), other({3, 3}, 1, PixelType::f64), out({2, 3}, 1, PixelType::u8);
  CHECK_THROWS_AS(deviation_host({.sums = sums.view, .squares = other.view}, sums.view), InvalidArgument);
  CHECK_THROWS_AS(deviation_host({.sums = sums.view, .squares = sums.view}, out.view), InvalidArgument);
}

TEST_CASE("Deviations of windows in one pass: the bits of the references of windows and of deviations") {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    WindowCase c = random_window_case(random, i % 4 == 0 ? 60 : 24, i % 4 == 0 ? 95 : 6);
    c.window = {.op = Window::Op::sum,
                .radius_x = c.window.radius_x,
                .radius_y = c.window.radius_y,
                .of = Window::Of::squares,
                .columns_first = c.window.columns_first};
    if (!supports_window_deviation(c.border)) c.border.value = 0;
    if (!is_floating(c.to)) c.to = PixelType::f32;
    const std::optional<double> least = i % 2 == 0 ? std::nullopt : std::optional(i % 3 * 20.0);
    const Rect rect = needed_rect(c);
    Image source(rect.extent(), c.channels, c.from, 0);
    fill_random(source.view, random, c.special);
    if (i % 3 == 0) move_away(source.view, i % 2 == 0 ? 2e6 : 3e9);
    const ConstRegion in{source.view, rect, c.image};
    const auto sum_of = [&](Window::Of of) {
      Image computed(c.out.extent(), c.channels, PixelType::f64);
      Window window = c.window;
      window.of = of;
      window_reference(window, c.border, in, {computed.view, c.out, c.image}, Arithmetic::f64);
      return computed;
    };
    const Image sums = sum_of(Window::Of::values), squares = sum_of(Window::Of::squares);
    WindowMoments moments{.sums = sums.view,
                          .squares = squares.view,
                          .count = window_ones_sum(c.window, Arithmetic::f64),
                          .least = least.value_or(0),
                          .windows = {.in = in,
                                      .border = c.border,
                                      .out = c.out,
                                      .radius_x = c.window.radius_x,
                                      .radius_y = c.window.radius_y,
                                      .columns_first = c.window.columns_first}};
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

TEST_CASE("Deviations of windows in one pass: what they are not made of is refused") {
  Image image({4, 4}, 1, PixelType::f32);
  Worker worker;
  const Window window{.op = Window::Op::sum, .radius_x = 1, .of = Window::Of::squares};
  const auto run = [&](const Window& of, const Border& border) {
    window_deviation_host(of, {}, border, ConstRegion::whole(image.view), Region::whole(image.view), worker);
  };
  CHECK(!supports_window_deviation({BorderMode::constant, 3}));
  CHECK_THROWS_AS(run(window, {BorderMode::constant, 3}), InvalidArgument);
  CHECK_THROWS_AS(run({.op = Window::Op::sum, .radius_x = 1}, {}), InvalidArgument);
}
