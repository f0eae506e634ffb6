// window_host against window_reference, bit for bit, on every instruction set of this processor.
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "kernels/sliding_window/integer_box.hpp"
#include "kernels/sliding_window/window.hpp"
#include "kernels/sliding_window/window_sizes.hpp"
#include "sliding_window_check_case.hpp"

using namespace sepconv;

TEST_CASE("window_host has the reference's bits: random small images") {
  Random random(1);
  for (int i = 0; i < 600; ++i) check_case(random_window_case(random, 24, 6), random);
}

TEST_CASE("window_host has the reference's bits: radii up to and beyond the image") {
  Random random(2);
  for (int i = 0; i < 60; ++i) check_case(random_window_case(random, 70, 90), random);
}

TEST_CASE("window_host has the reference's bits: every pair of types and operation") {
  Random random(3);
  for (const PixelType from : kPixelTypes) {
    for (const PixelType to : kPixelTypes) {
      for (const Window::Op op : {Window::Op::minimum, Window::Op::maximum, Window::Op::sum}) {
        for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
          for (const bool flag : {false, true}) {
            WindowCase c = random_window_case(random, 40, 5);
            c.from = from, c.to = to, c.arithmetic = arithmetic, c.special = true;
            c.window.op = op, c.window.ignores_nan = c.window.columns_first = flag;
            check_case(c, random);
          }
        }
      }
    }
  }
}

TEST_CASE("window_host has the reference's bits: every window up to 2^7 neighbours, along one axis") {
  Random random(4);
  for (std::int64_t radius = 1; radius < 64; ++radius) {
    WindowCase c = random_window_case(random, 20, 1);
    const bool vertical = radius % 2 == 0;
    c.window.radius_x = vertical ? 0 : radius, c.window.radius_y = vertical ? radius : 0;
    c.image = vertical ? Extent{150, 9} : Extent{3, 150};
    c.out = Rect::whole(c.image);
    check_case(c, random);
  }
}

TEST_CASE(
    "window_host has the reference's bits: rows of windows of many vectors, of every type and channels") {
  Random random(10);
  for (int i = 0; i < 96; ++i) {
    WindowCase c = random_window_case(random, 1, 0);
    c.window.op = i % 2 == 0 ? Window::Op::minimum : Window::Op::maximum;
    c.window.radius_x = i % 3 == 0 ? random_between(random, 300, 1100) : random_between(random, 4, 140);
    c.window.radius_y = random_between(random, 0, 1);
    c.image = {2, random_between(random, 1, 700)};
    c.out = Rect::whole(c.image);
    c.channels = 1 + i / 2 % 4;
    c.from = kPixelTypes[static_cast<std::size_t>(i) % std::size(kPixelTypes)];
    check_case(c, random);
  }
}

TEST_CASE(
    "window_host has the reference's bits where rows do not fit the cache: strips, and one pass after the "
    "other") {
  Random random(5);
  int split = 0, strips = 0;
  for (int i = 0; i < 12; ++i) {
    WindowCase c = random_window_case(random, 40, 0);
    const bool both = i % 2 == 0;
    c.window.radius_y = both ? 200 : 700;
    c.window.radius_x = both ? 150 : 2;
    c.image = both ? Extent{40, 1100} : Extent{700, 2500};
    c.out = {3, 5, 8, c.image.cols - 9};
    c.channels = 1, c.from = PixelType::f32, c.arithmetic = Arithmetic::f32;
    const WindowSizes sizes(c.window, c.out.extent(), 1, sizeof(float));
    split += sizes.splits, strips += sizes.strip_cols < c.out.cols;
    check_case(c, random);
  }
  REQUIRE(split >= 1);
  REQUIRE(strips >= 4);
}

TEST_CASE("window_host has the reference's bits: blocks of rows that are processed in parts") {
  Random random(11);
  for (int i = 0; i < 6; ++i) {
    WindowCase c = random_window_case(random, 1, 0);
    c.window.op = i % 2 == 0 ? Window::Op::minimum : Window::Op::maximum;
    c.window.radius_x = 1, c.window.radius_y = random_between(random, 50, 90);
    c.image = {450, 800 + i};
    c.out = {0, 0, 450 - i, 800};
    c.channels = 2, c.from = PixelType::f32;
    const WindowSizes sizes(c.window, c.out.extent(), c.channels, size_of(pixel_type_of(c.arithmetic)));
    REQUIRE(2 * sizes.buffer_pitch * sizes.bytes * c.window.radius_y > 2 * WindowTuning::kPartBytes);
    check_case(c, random);
  }
}

TEST_CASE("window_host has the reference's bits where rows go by in pieces") {
  Random random(6);
  for (int i = 0; i < 24; ++i) {
    WindowCase c = random_window_case(random, 40, 0);
    c.window.radius_x = i % 4, c.window.radius_y = i % 3;
    c.image = {7, 2 * WindowTuning::kPieceBytes + 300 + i}, c.out = {1, i, 5, c.image.cols - 2 * i};
    const WindowSizes sizes(c.window, c.out.extent(), c.channels, size_of(pixel_type_of(c.arithmetic)));
    REQUIRE(2 * sizes.piece_cols < c.out.cols);
    check_case(c, random);
  }
}

TEST_CASE(
    "window_host has the reference's bits: sums of integers at the limits of exactness, of the largest "
    "pixels") {
  struct Limit {
    PixelType type;
    double border_value;  ///< the border's constant
    Window::Of of;
    std::int64_t radius;  ///< the maximum whose integer sums are exact; radius + 1 is beyond it
  };
  constexpr Limit kLimits[] = {
      {PixelType::u8, 255, Window::Of::values, 127},    {PixelType::u8, 255, Window::Of::values, 128},
      {PixelType::u8, 255, Window::Of::squares, 90},    {PixelType::u16, 65535, Window::Of::values, 7},
      {PixelType::i16, -32768, Window::Of::values, 10}, {PixelType::u16, 65535, Window::Of::squares, 30}};
  Random random(8);
  for (const Limit& limit : kLimits) {
    for (const std::int64_t extra_radius : {0, 1}) {
      for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
        WindowCase c = random_window_case(random, 6, 0);
        c.window = {.op = Window::Op::sum, .of = limit.of, .divisor = 3};
        c.window.radius_x = c.window.radius_y = limit.radius + extra_radius;
        c.border = {BorderMode::constant, limit.border_value};
        c.from = limit.type, c.to = pixel_type_of(arithmetic), c.arithmetic = arithmetic;
        check_case(c, random);
      }
    }
  }
}

TEST_CASE("window_host has the reference's bits: means of integers whose sums are exact") {
  Random random(12);
  constexpr PixelType kIntegers[] = {PixelType::u8, PixelType::u16, PixelType::i16};
  int integer_boxes = 0;
  for (int i = 0; i < 150; ++i) {
    WindowCase c = random_window_case(random, 90, i % 3 == 0 ? 128 : 10);
    c.from = kIntegers[static_cast<std::size_t>(i) % std::size(kIntegers)];
    if (i % 2 == 0) c.to = c.from;
    if (i % 5 == 0) c.window.radius_x = 1;
    c.window.op = Window::Op::sum, c.window.of = Window::Of::values, c.window.ignores_nan = false;
    c.window.divisor =
        c.window.unit *
        window_ones_sum({.op = Window::Op::sum, .radius_x = c.window.radius_x, .radius_y = c.window.radius_y},
                        Arithmetic::f32);
    if (i % 10 == 0) c.image = {5, IntegerBoxSizes::kStripElements + 100 + i}, c.out = Rect::whole(c.image);
    c.channels = i % 4 == 0 ? 3 : 1, c.arithmetic = Arithmetic::f32;
    integer_boxes += is_box_of_integers(c.window, c.border, c.from, c.channels, Arithmetic::f32);
    check_case(c, random);
  }
  REQUIRE(integer_boxes >= 50);
}

TEST_CASE("A mean of integers has the bits of a division: of all sums") {
  for (std::int64_t side = 3; side <= 255; side += side < 31 ? 2 : 32) {
    const std::int64_t pixels = side * side;
    const auto divisor = static_cast<float>(pixels);
    const WholeQuotient whole(divisor);
    std::int64_t wrong = 0;
    for (std::int64_t sum = 0; sum <= std::min<std::int64_t>(65535 * pixels, 1 << 24); ++sum) {
      const auto value = static_cast<float>(sum);
      wrong += whole.of(value) != value / divisor;
    }
    CHECK(wrong == 0);
  }
  int fit = 0;
  for (std::int64_t pixels = 1; pixels <= 257; pixels += 2) {
    if (!ByteQuotient::fits(pixels)) continue;
    ++fit;
    const ByteQuotient bytes(pixels);
    std::int64_t wrong = 0;
    for (std::int64_t sum = 0; sum <= 255 * pixels; ++sum)
      wrong += bytes.of(static_cast<std::uint16_t>(sum)) !=
               to_pixel<std::uint8_t>(static_cast<float>(sum) / static_cast<float>(pixels));
    CHECK(wrong == 0);
  }
  CHECK(fit >= 100);
  for (const std::int64_t side : {3, 5, 7, 9, 11, 13, 15}) CHECK(ByteQuotient::fits(side * side));
}

TEST_CASE("window_host has the reference's bits: integers whose border constant is not an integer pixel") {
  Random random(9);
  for (const double value : {0.5, -1.0, 256.0, 255.0, 99.999999}) {  // the last is 100 in f32
    for (const Window::Op op : {Window::Op::sum, Window::Op::minimum, Window::Op::maximum}) {
      WindowCase c = random_window_case(random, 20, 3);
      c.window.op = op, c.window.of = Window::Of::values, c.window.radius_y = 2;
      c.window.shape = op == Window::Op::maximum ? Window::Shape::disk : Window::Shape::box;
      c.border = {BorderMode::constant, value};
      c.from = PixelType::u8, c.to = PixelType::f32;
      check_case(c, random);
    }
  }
}

TEST_CASE("Values that differ by their sign and NaN alone: minimum and maximum follow their order") {
  const float values[] = {-0.0f, 0.0f, std::numeric_limits<float>::quiet_NaN(), 0.0f, -0.0f};
  float minima[5], maxima[5];
  const ConstRegion in = ConstRegion::whole(view_of(values, {1, 5}));
  const Border border{BorderMode::replicate, 0};
  const auto run_window = [&](Window::Op op, bool ignores_nan, float* to) {
    const Window window{.op = op, .radius_x = 1, .ignores_nan = ignores_nan};
    Worker worker(Buffer(window_scratch_bytes(window, {1, 5}, 1, Arithmetic::f32)));
    window_host(window, border, in, Region::whole(view_of(to, {1, 5})), Arithmetic::f32, worker);
  };
  run_window(Window::Op::minimum, false, minima);
  run_window(Window::Op::maximum, true, maxima);
  CHECK((minima[0] == 0 && std::signbit(minima[0])));
  CHECK((std::isnan(minima[1]) && std::isnan(minima[2]) && std::isnan(minima[3])));
  CHECK(std::signbit(minima[4]));
  for (const float value : maxima) CHECK((value == 0 && !std::signbit(value)));
}

TEST_CASE("Sums of pairs of pairs: their order is the one that docs/maths.md says") {
  // (2^24 + 1) + 1 is 2^24 in f32, 2^24 + (1 + 1) is not; a window of 5 is ((a + b) + (c + d)) + e.
  const float large = 16777216;
  const float values[] = {large, 1, 1, 1, 1};
  const auto of = [&](std::int64_t count) {
    return sum_of_window<float>(count, [&](std::int64_t i) { return values[i]; });
  };
  CHECK(of(2) == large);
  CHECK(of(3) == large);      // (2^24 + 1) + 1
  CHECK(of(4) == large + 2);  // (2^24 + 1) + (1 + 1)
  CHECK(of(5) == large + 4);  // ((2^24 + 1) + (1 + 1)) + 1, half to even
  CHECK(window_ones_sum({.op = Window::Op::sum, .radius_x = 3, .radius_y = 2}, Arithmetic::f32) == 35);
}

TEST_CASE("What is not a window is refused, in every build") {
  Image image({4, 4}, 1, PixelType::u8), other({4, 4}, 2, PixelType::u8);
  Worker worker;
  const ConstRegion in = ConstRegion::whole(image.view);
  const auto run = [&](const Window& window, const Border& border, const Region& out) {
    window_host(window, border, in, out, Arithmetic::f32, worker);
  };
  CHECK_THROWS_AS(run({.radius_x = -1}, {}, Region::whole(image.view)), InvalidArgument);
  CHECK_THROWS_AS(run({.radius_x = 1}, {}, Region::whole(other.view)), InvalidArgument);
  CHECK_THROWS_AS(run({.radius_x = 1}, {BorderMode::wrap, 0}, Region::whole(image.view)), InvalidArgument);
}
