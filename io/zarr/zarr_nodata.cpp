#include "io/zarr/zarr_nodata.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <string_view>

#include "core/base64.hpp"
#include "core/printable.hpp"
#include "io/nodata.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {
namespace {

constexpr const char* kFill = "_FillValue";
constexpr const char* kMissing = "missing_value";

/// The base64 text of the 8 bytes of a number, little-endian.
std::string base64_of(double number) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof number>>(number);
  return base64({bytes.begin(), bytes.end()});
}

std::optional<double> number_in_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kDigitsOf8Bytes = 11;
  if (text.size() != kDigitsOf8Bytes + 1 || text.back() != '=') return std::nullopt;
  std::array<std::byte, sizeof(double)> bytes{};
  unsigned accumulator = 0, bits = 0;
  std::size_t count = 0;
  for (const char letter : text.substr(0, kDigitsOf8Bytes)) {
    const std::size_t digit = kDigits.find(letter);
    if (digit == kDigits.npos) return std::nullopt;
    accumulator = accumulator << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[count++] = static_cast<std::byte>(accumulator >> bits & 0xFF);
  }
  return std::bit_cast<double>(bytes);
}

/// An attribute as a value of the type; null if it is not one.
std::optional<double> value_of(const Json& attribute, SampleType type) {
  if (type.is_complex()) return std::nullopt;
  std::optional<double> number;
  if (attribute.is_number()) number = attribute.get<double>();
  if (attribute.is_string() && type.kind == SampleType::Kind::floating) {
    const auto text = attribute.get<std::string>();
    number = number_of(text);  // "NaN", which JSON has only as a string
    if (!number) number = number_in_base64(text);
  }
  if (number) number = value_as(*number, type);
  return number ? value_as(*number, type.pixels()) : std::nullopt;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Json json_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (number != std::nearbyint(number) || std::abs(number) >= 0x1p63) return number;
  return static_cast<std::int64_t>(number);
}

std::optional<double> nodata_from_fill(const ZarrArray& array) {
  if (array.version != 2 || array.names.empty()) return std::nullopt;
  const auto value = value_of(Json::parse(format_zarr_fill(array.fill, array.type, 2)), array.type);
  return value == 0.0 ? std::nullopt : value;
}

}  // namespace

std::optional<double> extract_nodata(ZarrArray& array, bool is_level, std::vector<std::string>& warnings) {
  constexpr std::size_t kMaxShown = 60;
  std::optional<double> nodata;
  Json attributes = Json::parse(array.attributes);
  for (const char* const name : {kFill, kMissing}) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) continue;
    const std::optional<double> value = value_of(*found, array.type);
    const std::string attribute =
        fmt::format("the attribute {} {}", name, printable(found->dump().substr(0, kMaxShown)));
    if (!value)
      warnings.push_back(
          fmt::format("{} is ignored: it is not a value of {} pixels (a number, or 8 bytes of one in "
                      "base64), so none are missing",
                      attribute, name_of(array.type)));
    else if (nodata && !is_same(*nodata, *value))
      warnings.push_back(fmt::format("{} is ignored: pixels of {} are missing", attribute, *nodata));
    else
      nodata = value, attributes.erase(found);
  }
  array.attributes = attributes.dump();
  return nodata || is_level ? nodata : nodata_from_fill(array);
}

void set_array_nodata(double nodata, bool fills, ZarrArray& array) {
  Json attributes = Json::parse(array.attributes);
  if (array.type.kind == SampleType::Kind::floating)
    attributes[kFill] = base64_of(nodata);
  else
    attributes[kFill] = json_of(nodata);
  array.attributes = attributes.dump();
  if (fills || array.version == 2)
    array.fill = parse_zarr_fill(json_of(nodata).dump(), array.type, array.version).value_or(array.fill);
  array.has_fill = true;
}

void remove_fill_value(const ZarrLayout& from, ZarrArray& array, std::vector<std::string>& warnings) {
  if (array.version != 2 || !array.has_fill) return;
  const std::string text = format_zarr_fill(array.fill, array.type, 2);
  const bool is_of_source = from.fill_version == 2 && !nodata_from_fill(array);
  if (is_of_source || text.find("NaN") != text.npos) return;
  if (!from.fill.empty())
    warnings.push_back(
        fmt::format("the fill value is null in place of {}, which readers of Zarr 2 take for missing pixels; "
                    "all chunks are stored",
                    text));
  array.fill = {};
  array.has_fill = false;
}

}  // namespace sepconv
