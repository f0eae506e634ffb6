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

/// For 8 bytes, the lowest first.
std::string base64_of(double number) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof number>>(number);
  return base64({bytes.begin(), bytes.end()});
}

std::optional<double> number_in_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kOf8Bytes = 11;
  if (text.size() != kOf8Bytes + 1 || text.back() != '=') return std::nullopt;
  std::array<std::byte, sizeof(double)> bytes{};
  unsigned held = 0, bits = 0;
  std::size_t count = 0;
  for (const char letter : text.substr(0, kOf8Bytes)) {
    const std::size_t digit = kDigits.find(letter);
    if (digit == kDigits.npos) return std::nullopt;
    held = held << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[count++] = static_cast<std::byte>(held >> bits & 0xFF);
  }
  return std::bit_cast<double>(bytes);
}

/// An attribute as a value of the type; nothing if it is none.
std::optional<double> value_of(const Json& attribute, SampleType type) {
  if (type.is_complex()) return std::nullopt;
  std::optional<double> number;
  if (attribute.is_number()) number = attribute.get<double>();
  if (attribute.is_string() && type.kind == SampleType::Kind::floating) {
    const auto text = attribute.get<std::string>();
    number = number_of(text);  // "NaN", which is not JSON otherwise
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

std::optional<double> fill_of_version_2(const ZarrArray& array) {
  if (array.version != 2 || array.names.empty()) return std::nullopt;
  const auto value = value_of(Json::parse(zarr_fill_text(array.fill, array.type, 2)), array.type);
  return value == 0.0 ? std::nullopt : value;
}

}  // namespace

std::optional<double> take_nodata(ZarrArray& array, bool is_level, std::vector<std::string>& said) {
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
      said.push_back(
          fmt::format("{} is not heeded: it is not a value of {} pixels (a number, or 8 bytes of one in "
                      "base64), so none are missing",
                      attribute, name_of(array.type)));
    else if (nodata && !is_same(*nodata, *value))
      said.push_back(fmt::format("{} is not heeded: pixels of {} are missing", attribute, *nodata));
    else
      nodata = value, attributes.erase(found);
  }
  array.attributes = attributes.dump();
  return nodata || is_level ? nodata : fill_of_version_2(array);
}

void put_nodata(double nodata, bool fills, ZarrArray& array) {
  Json attributes = Json::parse(array.attributes);
  if (array.type.kind == SampleType::Kind::floating)
    attributes[kFill] = base64_of(nodata);
  else
    attributes[kFill] = json_of(nodata);
  array.attributes = attributes.dump();
  if (fills || array.version == 2)
    array.fill = zarr_fill(json_of(nodata).dump(), array.type, array.version).value_or(array.fill);
  array.has_fill = true;
}

void take_fill_away(const ZarrLayout& from, ZarrArray& array, std::vector<std::string>& said) {
  if (array.version != 2 || !array.has_fill) return;
  const std::string text = zarr_fill_text(array.fill, array.type, 2);
  const bool is_of_source = from.fill_version == 2 && !fill_of_version_2(array);
  if (is_of_source || text.find("NaN") != text.npos) return;
  if (!from.fill.empty())
    said.push_back(
        fmt::format("the fill value is null in place of {}, which readers of Zarr 2 take for missing pixels; "
                    "all chunks are stored",
                    text));
  array.fill = {};
  array.has_fill = false;
}

}  // namespace sepconv
