// Conversion between pixel types and arithmetic types: rounding, saturation and NaN.
#include "kernels/simd/rows.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "random_image.hpp"

using namespace sepconv;

namespace {

/// Values around the edge cases of rounding and saturation.
template <class A>
std::vector<A> difficult_values() {
  using Limits = std::numeric_limits<A>;
  std::vector<A> values = {Limits::quiet_NaN(),
                           -Limits::quiet_NaN(),
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::max(),
                           Limits::lowest(),
                           Limits::min(),
                           Limits::denorm_min(),
                           A(-0.0),
                           A(0)};
  for (const A bound :
       {A(0), A(255), A(65535), A(-32768), A(32767), A(2147483648.0), A(-2147483648.0), A(4294967296.0)}) {
    for (int halves = -7; halves <= 7; ++halves) {
      const A value = bound + A(halves) / 2;
      values.insert(values.end(), {value, std::nextafter(value, Limits::infinity()),
                                   std::nextafter(value, -Limits::infinity())});
    }
  }
  return values;
}

template <class A>
void check_store(PixelType type) {
  const std::vector<A> values = difficult_values<A>();
  const auto count = static_cast<std::int64_t>(values.size());
  visit_pixel_type(type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t first = 0; first < 20;
         ++first) {  // every element is converted by the vector loop and by the remainder loop
      std::vector<T> stored(values.size() + 1, T(77));
      store_row_for<A>(type)(values.data() + first, count - first,
                             reinterpret_cast<std::byte*>(stored.data()));
      for (std::int64_t i = first; i < count; ++i) {
        INFO(name_of(type) << " from " << values[std::size_t(i)]);
        REQUIRE(same_bits(stored[std::size_t(i - first)], to_pixel<T>(values[std::size_t(i)])));
      }
      REQUIRE(stored[std::size_t(count - first)] == T(77));
    }
  });
}

template <class A>
void check_load(PixelType type) {
  Random random(7);
  visit_pixel_type(type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t count = 0; count < 70; ++count) {
      std::vector<T> pixels;
      for (std::int64_t i = 0; i < count; ++i) pixels.push_back(random_element<T>(random, true));
      std::vector<A> loaded(pixels.size() + 1, A(77));
      load_row_for<A>(type)(reinterpret_cast<const std::byte*>(pixels.data()), count, loaded.data());
      for (std::size_t i = 0; i < pixels.size(); ++i)
        REQUIRE(same_bits(loaded[i], static_cast<A>(pixels[i])));
      REQUIRE(loaded.back() == A(77));
    }
  });
}

}  // namespace

TEST_CASE("to_pixel rounds half to even, saturates and makes NaN 0") {
  CHECK(to_pixel<std::uint8_t>(0.5f) == 0);
  CHECK(to_pixel<std::uint8_t>(1.5f) == 2);
  CHECK(to_pixel<std::uint8_t>(2.5f) == 2);
  CHECK(to_pixel<std::uint8_t>(254.5f) == 254);
  CHECK(to_pixel<std::uint8_t>(255.5f) == 255);
  CHECK(to_pixel<std::uint8_t>(-0.6f) == 0);
  CHECK(to_pixel<std::uint8_t>(1e30f) == 255);
  CHECK(to_pixel<std::uint16_t>(65534.5) == 65534);
  CHECK(to_pixel<std::uint16_t>(INFINITY) == 65535);
  CHECK(to_pixel<std::int16_t>(-0.5) == 0);
  CHECK(to_pixel<std::int16_t>(-1.5) == -2);
  CHECK(to_pixel<std::int16_t>(-1e9) == -32768);
  CHECK(to_pixel<std::int16_t>(double(NAN)) == 0);
  CHECK(to_pixel<float>(1e300) == INFINITY);
  CHECK(std::isnan(to_pixel<float>(double(NAN))));
}

TEST_CASE("rows convert as elements do, on every instruction set") {
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    for (const PixelType type : kPixelTypes) {
      check_store<float>(type);
      check_store<double>(type);
      check_load<float>(type);
      check_load<double>(type);
    }
  }
}

TEST_CASE("an unknown instruction set is refused and changes nothing") {
  const std::string before = simd_target();
  CHECK(before == simd_targets().front());
  CHECK_THROWS_AS(force_simd_target("MMX"), InvalidArgument);
  CHECK(simd_target() == before);
}
