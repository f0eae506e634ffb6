#include "io/sample_conversion.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "io/half.hpp"

namespace sepconv {
namespace {

using Kind = SampleType::Kind;

double value_of_half(int bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = (bits & 1023) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST_CASE(
    "Half precision: every number is exact, and what lies between two goes to the nearest, then the even") {
  for (int bits = 0; bits < 0x10000; ++bits) {
    CAPTURE(bits);
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    if ((bits & 0x7c00) == 0x7c00) {
      REQUIRE(std::isnan(value) == ((bits & 1023) != 0));
      if (std::isnan(value)) REQUIRE(half_of_float(value) == half);
      if (!std::isnan(value)) REQUIRE((std::isinf(value) && std::signbit(value) == (bits > 0x7fff)));
      continue;
    }
    REQUIRE(static_cast<double>(value) == value_of_half(bits));
    REQUIRE(std::signbit(value) == (bits > 0x7fff));
    REQUIRE(half_of_float(value) == half);
    const auto next = static_cast<std::uint16_t>(bits + 1);  // away from 0
    const bool last = (bits & 0x7fff) == 0x7bff;
    const double next_value = last ? std::copysign(65536.0, value) : value_of_half(next);
    const auto middle = static_cast<float>((static_cast<double>(value) + next_value) / 2);
    REQUIRE(half_of_float(middle) == (bits % 2 == 0 ? half : next));
    REQUIRE(half_of_float(std::nextafter(middle, 0.0F)) == half);
    REQUIRE(half_of_float(std::nextafter(middle, std::copysign(1e9F, value))) == next);
  }
}

template <class T>
T stored_as(SampleType type, double value) {
  T element{};
  store_elements(type, reinterpret_cast<const std::byte*>(&value), 1, 1,
                 reinterpret_cast<std::byte*>(&element));
  return element;
}

TEST_CASE("Integers of 32 and 64 bits are rounded half to even, saturate, and have no NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto check = [&]<class T>(Kind kind, T) {
    using Limits = std::numeric_limits<T>;
    const SampleType type{kind, 8 * sizeof(T)};
    REQUIRE(type.pixels() == PixelType::f64);
    CHECK(stored_as<T>(type, nan) == 0);
    CHECK(stored_as<T>(type, infinity) == Limits::max());
    CHECK(stored_as<T>(type, -infinity) == Limits::min());
    CHECK(stored_as<T>(type, static_cast<double>(Limits::max())) == Limits::max());
    CHECK(stored_as<T>(type, static_cast<double>(Limits::min())) == Limits::min());
    CHECK(stored_as<T>(type, 2.5) == 2);
    CHECK(stored_as<T>(type, 3.5) == 4);
    CHECK(stored_as<T>(type, -0.5) == 0);
    CHECK(stored_as<T>(type, -2.5) == (Limits::is_signed ? static_cast<T>(-2) : T{0}));
    CHECK(stored_as<T>(type, -1e30) == Limits::min());
    CHECK(stored_as<T>(type, 1e30) == Limits::max());
  };
  check(Kind::natural, std::uint32_t{});
  check(Kind::integer, std::int32_t{});
  check(Kind::natural, std::uint64_t{});
  check(Kind::integer, std::int64_t{});
  CHECK(stored_as<std::uint32_t>({Kind::natural, 32}, 4294967294.5) == 4294967294U);
  CHECK(stored_as<std::int32_t>({Kind::integer, 32}, 2147483647.4) == 2147483647);
  CHECK(stored_as<std::uint64_t>({Kind::natural, 64}, 18446744073709549568.0) == 18446744073709549568U);
}

template <class T>
std::int64_t loaded(SampleType type, const std::vector<T>& elements) {
  std::vector<double> values(elements.size());
  return load_elements(type, {reinterpret_cast<const std::byte*>(elements.data())}, std::ssize(elements),
                       reinterpret_cast<std::byte*>(values.data()), 1);
}

TEST_CASE("The first integer that f64 cannot represent is found") {
  constexpr std::int64_t kMaxExact = std::int64_t{1} << 53;
  const SampleType i64{Kind::integer, 64};
  const SampleType u64{Kind::natural, 64};
  using Signed = std::vector<std::int64_t>;
  using Unsigned = std::vector<std::uint64_t>;
  CHECK(loaded(i64, Signed{0, kMaxExact, -kMaxExact, kMaxExact + 2, -kMaxExact - 2, INT64_MIN,
                           std::int64_t{1} << 62}) == 7);
  CHECK(loaded(i64, Signed{0, kMaxExact + 1, kMaxExact + 1}) == 1);
  CHECK(loaded(i64, Signed{0, 1, -kMaxExact - 1}) == 2);
  CHECK(loaded(i64, Signed{INT64_MAX}) == 0);
  CHECK(loaded(u64, Unsigned{0, 1U << 31, std::uint64_t{1} << 63, ~std::uint64_t{2047}}) == 4);
  CHECK(loaded(u64, Unsigned{5, ~std::uint64_t{0}}) == 1);
  CHECK(loaded(u64, Unsigned{5, 5, ~std::uint64_t{1023}}) == 2);
}

TEST_CASE("Packed elements begin at any bit") {
  // Read as 0x123 0x456 0x789 0xabc, and as bits.
  const std::array<std::uint8_t, 6> bytes{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc};
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  std::array<std::uint16_t, 4> values_12_bit{};
  REQUIRE(load_elements({Kind::natural, 12}, {data}, 4, reinterpret_cast<std::byte*>(values_12_bit.data()),
                        1) == 4);
  CHECK(values_12_bit == std::array<std::uint16_t, 4>{0x123, 0x456, 0x789, 0xabc});
  load_elements({Kind::natural, 12}, {data + 1, 1, 4}, 3, reinterpret_cast<std::byte*>(values_12_bit.data()),
                1);
  CHECK(values_12_bit == std::array<std::uint16_t, 4>{0x456, 0x789, 0xabc, 0xabc});
  for (int first = 0; first < 8; ++first) {
    std::array<std::uint8_t, 2 * 40> bits{};
    load_elements({Kind::natural, 1}, {data, 1, first}, 40, reinterpret_cast<std::byte*>(bits.data()), 2);
    for (int i = 0; i < 40; ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      CHECK(bits[static_cast<std::size_t>(2 * i)] == (bytes[at / 8] >> (7 - at % 8) & 1));
    }
  }
}

TEST_CASE("Pixel types and names of sample types") {
  CHECK(SampleType(Kind::boolean, 8).pixels() == PixelType::u8);
  CHECK(SampleType(Kind::natural, 1).pixels() == PixelType::u8);
  CHECK(SampleType(Kind::natural, 12).pixels() == PixelType::u16);
  CHECK(SampleType(Kind::complex, 128).pixels() == PixelType::f64);
  for (const PixelType type : kPixelTypes) {
    CHECK(SampleType(type).is_pixels());
    CHECK(SampleType(type).pixels() == type);
    CHECK(name_of(SampleType(type)) == name_of(type));
  }
  CHECK_FALSE(SampleType(Kind::boolean, 8).is_pixels());
  CHECK(name_of(SampleType(Kind::complex, 64)) == "complex64");
  CHECK(describe(SampleType(Kind::integer, 8)) == "i8, computed as i16");
  CHECK(SampleType(Kind::natural, 12).bytes_of(3) == 5);
}

}  // namespace
}  // namespace sepconv
