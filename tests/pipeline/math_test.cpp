// Pixel programs: values of each instruction, and the host's bits against the reference's.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../kernels/random_image.hpp"
#include "core/error.hpp"
#include "kernels/pointwise/pixel_program.hpp"
#include "pipeline/stages/math_parser.hpp"

using namespace sepconv;

namespace {

/// The value of an expression for a pixel with channels b1 and b2, which both implementations compute.
double value_of(const char* text, double b1, double b2 = 0) {
  const double pixel[] = {b1, b2};
  double host = 77, reference = 78;
  const PixelProgram program = parse_math(text);
  const ConstPixelView in = view_of(pixel, {1, 1}, 2);
  pixel_program_host(program, in, view_of(&host, {1, 1}), Arithmetic::f64);
  pixel_program_reference(program, in, view_of(&reference, {1, 1}), Arithmetic::f64);
  CHECK((host == reference || (std::isnan(host) && std::isnan(reference))));
  return host;
}

}  // namespace

TEST_CASE("expressions have the values of IEEE arithmetic") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  CHECK(value_of("b1 + 2 * b2 - 3", 5, 7) == 16);
  CHECK(value_of("-(b1 - b2) / 4", 5, 7) == 0.5);
  CHECK(value_of("8 / 4 / 2 - 1 - 1", 0) == -1);
  CHECK(value_of("--2 + +3", 0) == 5);
  CHECK(value_of("sqrt(abs(b1))", -9) == 3);
  CHECK(value_of("min(b1, b2) + 10 * max(b1, b2)", 2, 3) == 32);
  CHECK(std::isnan(value_of("min(b1, b2)", kNaN, 3)));
  CHECK(std::isnan(value_of("max(b1, b2)", 3, kNaN)));
  CHECK(value_of("isnan(b1) + 2 * isnan(b2)", kNaN, 3) == 1);
  CHECK(value_of("b1 > b2", 3, 2) + value_of("b1 >= b2", 3, 3) + value_of("b1 == b2", 3, 3) == 3);
  CHECK(value_of("b1 < b2", 3, 2) + value_of("b1 <= b2", 3, 2) + value_of("b1 != b2", 3, 3) == 0);
  CHECK(value_of("b1 != b1", kNaN) == 1);
  CHECK(value_of("b1 >= 0", kNaN) == 0);
  CHECK(value_of("where(b1 > 1, 5, 6)", 2) == 5);
  CHECK(value_of("where(b1 > 1, nan, 6)", 1) == 6);
  CHECK(value_of("1 / b1", 0) == std::numeric_limits<double>::infinity());
  CHECK(value_of("1e3 + .5", 0) == 1000.5);
}

TEST_CASE("an expression that is wrong is refused with the place") {
  for (const char* text : {"", "1 +", "b0", "b65537", "(1", "1)", "foo(1)", "min(1)", "1 2", "where(1,2)",
                           "x y", "b1 = 2", "abs 3"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_math(text), Catch::Contains("at character "));
  }
  CHECK_THROWS_AS(parse_math(std::string(5000, '(')), InvalidArgument);
  CHECK_THROWS_AS(parse_math(std::string(5000, '-') + "1"), InvalidArgument);
  std::string deep = "1";
  for (int i = 0; i < 40; ++i) deep = "1 - (" + deep + ")";
  CHECK_THROWS_WITH(parse_math(deep), Catch::Contains("values at a time"));
}

TEST_CASE("programs have the reference's bits on the host") {
  const char* const expressions[] = {"(b2-b1)/(b2+b1)", "where(x>=b1,x*1.5,-x)/3",
                                     "max(b1,sqrt(b2))-isnan(x)", "min(x,b2)*0.1+(b1!=b2)"};
  Random random(5);
  for (const char* const expression : expressions) {
    for (const PixelType from : {PixelType::u8, PixelType::i16, PixelType::f32, PixelType::f64}) {
      for (const PixelType to : {PixelType::u8, PixelType::f32, PixelType::f64}) {
        for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
          PixelProgram program = parse_math(expression);
          program.propagates_nodata = random() % 2 == 0;
          program.keeps_last_channel = random() % 2 == 0;
          Image in({7, 301}, 3, from);
          fill_random(in.view, random, true);
          const std::int64_t kept = program.keeps_last_channel ? 1 : 0;
          const std::int64_t channels = program.is_per_channel ? 3 : 1 + kept;
          Image expected({7, 301}, channels, to), actual({7, 301}, channels, to);
          expected.fill_bytes(0xa5);
          actual.fill_bytes(0x5a);
          pixel_program_reference(program, in.view, expected.view, arithmetic);
          pixel_program_host(program, in.view, actual.view, arithmetic);
          CHECK(differing_elements(expected.view, actual.view) == 0);
        }
      }
    }
  }
}
