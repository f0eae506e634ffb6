#include "io/nodata.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace sepconv {
namespace {

template <class T>
std::optional<T> parse_completely(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  text = text.substr(first, text.find_last_not_of(" \n") + 1 - first);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> number_of(std::string_view text) { return parse_completely<double>(text); }

std::optional<double> size_number_of(std::string_view text) {
  const std::optional<double> number = number_of(text);
  return number && *number >= 0 && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> whole_number_of(std::string_view text) {
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  const auto number = parse_completely<std::int64_t>(text);
  return number && *number >= 0 && *number <= kMax ? number : std::nullopt;
}

std::optional<double> value_as(double value, PixelType type) {
  return visit_pixel_type(type, [value]<class T>(std::type_identity<T>) -> std::optional<double> {
    using Limits = std::numeric_limits<T>;
    if (std::is_floating_point_v<T> && !std::isfinite(value)) return value;
    // Values up to half a unit beyond the largest float are rounded to it.
    constexpr double kBeyond = std::is_same_v<T, float> ? 1 + 1e-8 : 1;
    const bool in_range = value >= static_cast<double>(Limits::lowest()) * kBeyond &&
                          value <= static_cast<double>(Limits::max()) * kBeyond;
    if (!in_range || (std::is_integral_v<T> && value != std::nearbyint(value))) return std::nullopt;
    return static_cast<double>(static_cast<T>(
        std::clamp(value, static_cast<double>(Limits::lowest()), static_cast<double>(Limits::max()))));
  });
}

std::optional<double> value_as(double value, SampleType type) {
  using enum SampleType::Kind;
  if (type.kind == floating || type.kind == complex) return value_as(value, type.pixels());
  const int bits = type.kind == boolean ? 1 : type.kind == integer ? type.bits - 1 : type.bits;
  const bool is_element = value == std::nearbyint(value) && value < std::exp2(bits) &&
                          value >= (type.kind == integer ? -std::exp2(bits) : 0);
  return is_element ? std::optional(value) : std::nullopt;
}

std::optional<double> declared_nodata(const Metadata& metadata, PixelType type, SampleType stored) {
  const std::optional<std::string> text = nodata_value(metadata);
  const std::optional<double> number = text ? number_of(*text) : std::nullopt;
  return number && value_as(*number, stored) ? value_as(*number, type) : std::nullopt;
}

}  // namespace sepconv
