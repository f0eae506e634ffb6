// Parses and formats fill values of both versions.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "io/half.hpp"
#include "io/sample_conversion.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {
namespace {

template <class T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(value));
}

/// Parses the bits of a number of this width: "0x7fc00000".
bool parse_bits(const std::string& text, int bits, std::byte* to) {
  std::uint64_t word = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, word, 16);
  if (error != std::errc() || stop != end || std::ssize(text) != 2 + bits / 4) return false;
  if (bits == 16) store(static_cast<std::uint16_t>(word), to);
  if (bits == 32) store(static_cast<std::uint32_t>(word), to);
  if (bits == 64) store(word, to);
  return true;
}

bool parse_float(const Json& value, int bits, std::byte* to) {
  double number = 0;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (!value.is_string()) {
    return false;
  } else if (const auto& text = value.get_ref<const std::string&>(); text == "NaN") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (text == "Infinity" || text == "-Infinity") {
    number = (text[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
  } else {
    return text.starts_with("0x") && parse_bits(text, bits, to);
  }
  if (bits == 64) {
    store(number, to);
  } else {
    const auto single = static_cast<float>(number);
    store_elements({SampleType::Kind::floating, bits}, reinterpret_cast<const std::byte*>(&single), 1, 1, to);
  }
  return true;
}

/// Stores an integer, or a float with an integral value. Returns false if it is not in the range of T.
template <class T>
bool parse_integer(const Json& value, std::byte* to) {
  using Limits = std::numeric_limits<T>;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(Limits::max())) return false;
    store(static_cast<T>(number), to);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();  // below 0
    if (!std::is_signed_v<T> || number < static_cast<std::int64_t>(Limits::min())) return false;
    store(static_cast<T>(number), to);
  } else if (value.is_number_float()) {
    const auto number = value.get<double>();
    constexpr double end = 2.0 * static_cast<double>(std::uint64_t{1} << (Limits::digits - 1));
    if (number != std::floor(number) || number < static_cast<double>(Limits::min()) || number >= end)
      return false;
    store(static_cast<T>(number), to);
  } else {
    return false;
  }
  return true;
}

template <class Narrow, class Short, class Word, class Long>
bool parse_integer_of_width(int bits, const Json& value, std::byte* to) {
  return bits == 8    ? parse_integer<Narrow>(value, to)
         : bits == 16 ? parse_integer<Short>(value, to)
         : bits == 32 ? parse_integer<Word>(value, to)
                      : parse_integer<Long>(value, to);
}

bool parse_element(const Json& value, SampleType type, std::byte* to) {
  switch (type.kind) {
    case SampleType::Kind::boolean:
      if (value.is_boolean()) store(static_cast<std::uint8_t>(value.get<bool>() ? 1 : 0), to);
      return value.is_boolean() || (parse_integer<std::uint8_t>(value, to) && *to <= std::byte{1});
    case SampleType::Kind::natural:
      return parse_integer_of_width<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(type.bits,
                                                                                               value, to);
    case SampleType::Kind::integer:
      return parse_integer_of_width<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(type.bits, value,
                                                                                           to);
    case SampleType::Kind::floating:
      return parse_float(value, type.bits, to);
    default:
      break;
  }
  const int part = type.bits_of_part();
  if (value.is_number()) return parse_float(value, part, to);
  return value.is_array() && value.size() == 2 && parse_float(value[0], part, to) &&
         parse_float(value[1], part, to + part / 8);
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

std::uint64_t word_at(const std::byte* from, int bits) {
  return bits == 8    ? load<std::uint8_t>(from)
         : bits == 16 ? load<std::uint16_t>(from)
         : bits == 32 ? load<std::uint32_t>(from)
                      : load<std::uint64_t>(from);
}

std::int64_t integer_at(const std::byte* from, int bits) {
  return bits == 8    ? load<std::int8_t>(from)
         : bits == 16 ? load<std::int16_t>(from)
         : bits == 32 ? load<std::int32_t>(from)
                      : load<std::int64_t>(from);
}

double float_at(const std::byte* from, int bits) {
  if (bits == 64) return load<double>(from);
  return bits == 32 ? load<float>(from) : float_of_half(load<std::uint16_t>(from));
}

Json float_json(const std::byte* from, int bits, int version) {
  const double number = float_at(from, bits);
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  if (!std::isnan(number)) return number;
  ZarrElement quiet_nan{};
  parse_float("NaN", bits, quiet_nan.data());
  const std::uint64_t word = word_at(from, bits);
  if (version == 2 || word == word_at(quiet_nan.data(), bits)) return "NaN";
  return fmt::format("0x{:0{}x}", word, bits / 4);
}

Json element_json(const std::byte* from, SampleType type, int version) {
  switch (type.kind) {
    case SampleType::Kind::boolean:
      return *from != std::byte{0};
    case SampleType::Kind::natural:
      return word_at(from, type.bits);
    case SampleType::Kind::integer:
      return integer_at(from, type.bits);
    case SampleType::Kind::floating:
      return float_json(from, type.bits, version);
    default:
      break;
  }
  const int part = type.bits_of_part();
  return Json::array({float_json(from, part, version), float_json(from + part / 8, part, version)});
}

}  // namespace

std::optional<ZarrElement> parse_zarr_fill(const std::string& text, SampleType type, int version) {
  if (version == 2 && text.find("\"0x") != text.npos) return std::nullopt;
  const Json value = Json::parse(text, nullptr, false);
  ZarrElement element{};
  if (!parse_element(value, type, element.data())) return std::nullopt;
  return element;
}

std::string format_zarr_fill(const ZarrElement& element, SampleType type, int version) {
  return element_json(element.data(), type, version).dump();
}

}  // namespace sepconv
