#include "io/sample_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/error.hpp"
#include "io/half.hpp"

namespace sepconv {
namespace {

using Kind = SampleType::Kind;

/// Distinct types for a one-byte bool and a half-precision float.
enum class Bool : std::uint8_t {};
enum class Half : std::uint16_t {};
template <class T>
struct Pair {
  T real, imaginary;
};

/// Calls the visitor with the C++ type of an element; `type` must not be packed.
template <class Visitor>
decltype(auto) visit_element(SampleType type, Visitor&& visitor) {
  const auto as = [&]<class T>() -> decltype(auto) { return visitor(std::type_identity<T>{}); };
  switch (type.kind) {
    case Kind::boolean:
      return as.template operator()<Bool>();
    case Kind::natural:
      return type.bits == 8    ? as.template operator()<std::uint8_t>()
             : type.bits == 16 ? as.template operator()<std::uint16_t>()
             : type.bits == 32 ? as.template operator()<std::uint32_t>()
                               : as.template operator()<std::uint64_t>();
    case Kind::integer:
      return type.bits == 8    ? as.template operator()<std::int8_t>()
             : type.bits == 16 ? as.template operator()<std::int16_t>()
             : type.bits == 32 ? as.template operator()<std::int32_t>()
                               : as.template operator()<std::int64_t>();
    case Kind::floating:
      return type.bits == 16   ? as.template operator()<Half>()
             : type.bits == 32 ? as.template operator()<float>()
                               : as.template operator()<double>();
    default:
      return type.bits == 64 ? as.template operator()<Pair<float>>() : as.template operator()<Pair<double>>();
  }
}

/// The pixel type that represents a T (or each part of a complex T).
template <class T>
struct PixelTypeFor {
  using type = T;
};
template <>
struct PixelTypeFor<Bool> {
  using type = std::uint8_t;
};
template <>
struct PixelTypeFor<Half> {
  using type = float;
};
template <>
struct PixelTypeFor<std::int8_t> {
  using type = std::int16_t;
};
template <class T>
requires(std::is_integral_v<T> && sizeof(T) >= 4) struct PixelTypeFor<T> {
  using type = double;
};
template <class T>
using PixelTypeOf = typename PixelTypeFor<T>::type;

template <class T>
PixelTypeOf<T> to_pixel(T element) noexcept {
  if constexpr (std::is_same_v<T, Bool>)
    return static_cast<std::uint8_t>(element) != 0 ? 1 : 0;
  else if constexpr (std::is_same_v<T, Half>)
    return float_of_half(static_cast<std::uint16_t>(element));
  else if constexpr (std::is_same_v<T, PixelTypeOf<T>>)
    return element;
  else
    return static_cast<PixelTypeOf<T>>(element);
}

/// Rounds and saturates. NaN becomes 0.
template <class T>
T from_pixel(PixelTypeOf<T> value) noexcept {
  if constexpr (std::is_same_v<T, Bool>)
    return static_cast<T>(value != 0 ? 1 : 0);
  else if constexpr (std::is_same_v<T, Half>)
    return static_cast<T>(half_of_float(value));
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return static_cast<T>(std::clamp<int>(value, -128, 127));
  else if constexpr (std::is_same_v<T, PixelTypeOf<T>>)
    return value;
  else {
    constexpr double min_value = static_cast<double>(std::numeric_limits<T>::min());
    // The maximum of 64-bit integers is not an f64; values below the next power of two fit.
    constexpr double limit =
        2.0 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
    // Below 2^52 adding 2^52 rounds half to even; larger values are integers.
    const double magnitude = std::abs(value);
    const double rounded = magnitude < 0x1p52 ? std::copysign((magnitude + 0x1p52) - 0x1p52, value) : value;
    if (!(rounded >= min_value)) return rounded < min_value ? std::numeric_limits<T>::min() : T{0};
    return rounded >= limit ? std::numeric_limits<T>::max() : static_cast<T>(rounded);
  }
}

template <class T>
T load_at(const std::byte* data, std::int64_t index) noexcept {
  T element;
  std::memcpy(&element, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return element;
}

/// The index of the first 64-bit integer with more significant bits than an f64, or `count`.
template <class T>
std::int64_t first_unrepresentable(const std::byte* data, std::int64_t step, std::int64_t count) noexcept {
  using Word = std::uint64_t;
  constexpr Word kMaxExact =
      Word{1} << std::numeric_limits<double>::digits;  // every integer up to this is an f64
  bool any_large = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto word = static_cast<Word>(load_at<T>(data, i * step));
    any_large |= (std::is_signed_v<T> ? word + kMaxExact > 2 * kMaxExact : word > kMaxExact);
  }
  for (std::int64_t i = 0; any_large && i < count; ++i) {
    const T value = load_at<T>(data, i * step);
    const Word magnitude = value < T{0} ? Word{0} - static_cast<Word>(value) : static_cast<Word>(value);
    if (magnitude != 0 && (magnitude >> std::countr_zero(magnitude)) >= kMaxExact) return i;
  }
  return count;
}

/// Strides are in bytes. The loop is vectorised in calls with constant strides of dense elements.
template <class T>
inline void load_strided(const std::byte* from, std::int64_t from_step, std::int64_t count, std::byte* to,
                         std::int64_t to_step) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + i * from_step, sizeof(T));
    const PixelTypeOf<T> value = to_pixel(element);
    std::memcpy(to + i * to_step, &value, sizeof(value));
  }
}

template <class T>
void load_dispatch(const std::byte* from, std::int64_t from_step, std::int64_t count, std::byte* to,
                   std::int64_t to_step) noexcept {
  constexpr std::int64_t kFrom = sizeof(T);
  constexpr std::int64_t kTo = sizeof(PixelTypeOf<T>);
  if (from_step == kFrom && to_step == kTo) return load_strided<T>(from, kFrom, count, to, kTo);
  load_strided<T>(from, from_step, count, to, to_step);
}

template <class T>
void unpack(const SampleFormat& from, int bits, std::int64_t count, T* to, std::int64_t to_step) noexcept {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from.data);
  std::uint32_t window = 0;
  int unused_bits = -from.first_bit;  // bits of the window that are not used yet
  for (std::int64_t i = 0; i < count; ++i) {
    while (unused_bits < bits) {
      window = window << 8 | *bytes++;
      unused_bits += 8;
    }
    unused_bits -= bits;
    to[i * to_step] = static_cast<T>(window >> unused_bits & ((1U << bits) - 1));
  }
}

template <class Word>
void swap_words(std::span<std::byte> bytes) noexcept {
  for (std::size_t at_byte = 0; at_byte + sizeof(Word) <= bytes.size(); at_byte += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at_byte, sizeof(Word));
    if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
    std::memcpy(bytes.data() + at_byte, &word, sizeof(Word));
  }
}

}  // namespace

std::int64_t load_elements(SampleType type, const SampleFormat& from, std::int64_t count, std::byte* to,
                           std::int64_t to_step) noexcept {
  if (type.is_packed()) {
    if (type.bits < 8)
      unpack(from, type.bits, count, reinterpret_cast<std::uint8_t*>(to), to_step);
    else
      unpack(from, type.bits, count, reinterpret_cast<std::uint16_t*>(to), to_step);
    return count;
  }
  return visit_element(type, [&]<class T>(std::type_identity<T>) {
    load_dispatch<T>(from.data, from.step * static_cast<std::int64_t>(sizeof(T)), count, to,
                     to_step * size_of(type.pixels()));
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
      return first_unrepresentable<T>(from.data, from.step, count);
    return count;
  });
}

void store_elements(SampleType type, const std::byte* from, std::int64_t from_step, std::int64_t count,
                    std::byte* to) noexcept {
  visit_element(type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t i = 0; i < count; ++i) {
      PixelTypeOf<T> value;
      std::memcpy(&value, from + i * from_step * size_of(type.pixels()), sizeof(value));
      const T element = from_pixel<T>(value);
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &element, sizeof(T));
    }
  });
}

void swap_elements(SampleType type, std::span<std::byte> bytes) noexcept {
  if (type.bits_of_part() == 16) swap_words<std::uint16_t>(bytes);
  if (type.bits_of_part() == 32) swap_words<std::uint32_t>(bytes);
  if (type.bits_of_part() == 64) swap_words<std::uint64_t>(bytes);
}

void throw_unrepresentable(const std::filesystem::path& path, SampleType type, std::int64_t row,
                           std::int64_t col, std::int64_t channel) {
  throw IoError(fmt::format(
      "cannot read {}: f64 has no number for the {} in row {}, column {}, channel {}, as it is beyond 2^53; "
      "convert the file to f64 if its values may be rounded",
      path.native(), name_of(type), row, col, channel));
}

}  // namespace sepconv
