// Aperio's description of a scanned slide (SVS): lines about the encoding, then fields,
// "|AppMag = 20|MPP = 0.4990|". https://openslide.org/formats/aperio/
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "io/nodata.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kSourcePrefix = "source: ";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \r\n") - begin + 1);
}

struct SlideField {
  std::string_view text, key, value;
};

/// The fields after the lines.
std::vector<SlideField> slide_fields(std::string_view text) {
  std::vector<SlideField> fields;
  for (std::size_t bar = text.find('|'); bar != text.npos;) {
    const std::size_t next = text.find('|', bar + 1);
    const std::string_view field = text.substr(bar + 1, next == text.npos ? next : next - bar - 1);
    const std::size_t equals = std::min(field.find('='), field.size());
    fields.push_back(
        {field, trimmed(field.substr(0, equals)), trimmed(field.substr(std::min(equals + 1, field.size())))});
    bar = next;
  }
  return fields;
}

/// Whether a field counts the pixels of the scan or states their position on the glass.
bool is_scan_field(std::string_view key) {
  constexpr std::string_view kKeys[] = {
      "stripewidth",     "left",          "top",           "linecameraskew", "lineareaxoffset",
      "lineareayoffset", "originalwidth", "originalheight"};
  std::string lower(key);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::ranges::find(kKeys, lower) != std::end(kKeys);
}

/// The size of a result pixel in source pixels; null unless it is equal along rows and columns, with a
/// tolerance for the rounded extents of levels.
std::optional<double> pixel_scale(const std::optional<PixelTransform>& map) {
  constexpr double kRounding = 0.01;
  if (!map || !(std::abs(map->rows / map->cols - 1) < kRounding)) return std::nullopt;
  return std::sqrt(map->rows * map->cols);
}

}  // namespace

bool is_aperio(std::string_view description) noexcept { return description.starts_with("Aperio"); }

std::optional<double> slide_mpp(std::string_view description) {
  for (const SlideField& field : slide_fields(description))
    if (field.key == "MPP") {
      const auto mpp = size_number_of(field.value);
      return mpp > 0.0 ? mpp : std::nullopt;
    }
  return std::nullopt;
}

bool is_slide(std::string_view description) {
  return is_aperio(description) || slide_mpp(description).has_value();
}

std::string describe_slide(const std::string& text, const ImageChange& change,
                           std::vector<std::string>& lost) {
  if (change.map == PixelTransform{}) return text;
  const double factor = pixel_scale(change.map).value_or(0);
  const std::string_view lines = std::string_view(text).substr(0, text.find('|'));
  const Extent extent = change.made().extent;
  std::string result =
      fmt::format("{}\r\n{}x{}", trimmed(lines.substr(0, lines.find('\n'))), extent.cols, extent.rows);
  std::vector<std::string_view> dropped;
  for (const SlideField& field : slide_fields(text)) {
    const bool is_size = field.key == "MPP" || field.key == "AppMag";
    const double value = is_size ? size_number_of(field.value).value_or(0) : 0;
    if (is_scan_field(field.key) || (is_size && !(value > 0 && factor > 0))) {
      if (std::ranges::find(dropped, field.key) == dropped.end()) dropped.push_back(field.key);
    } else if (is_size && factor != 1) {
      result += fmt::format("|{} = {:.6g}", field.key, field.key == "MPP" ? value * factor : value / factor);
    } else {
      result += fmt::format("|{}", field.text);
    }
  }
  if (!dropped.empty())
    lost.push_back(fmt::format("of Aperio's description are left out: {}; they are of the source's pixels{}",
                               fmt::join(dropped, ", "),
                               change.map && factor == 0 ? ", and those of the result are not square" : ""));
  return result;
}

std::string hide_aperio_signature(const std::string& text) {
  return is_aperio(text) ? std::string(kSourcePrefix) + text : text;
}

std::string remove_slide_mpp(const std::string& text) {
  const std::string_view lines = std::string_view(text).substr(0, text.find('|'));
  std::string result(lines);
  for (const SlideField& field : slide_fields(text))
    if (field.key != "MPP" && field.key != "AppMag") result += fmt::format("|{}", field.text);
  return result;
}

}  // namespace sepconv
