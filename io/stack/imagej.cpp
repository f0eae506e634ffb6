// ImageJ's description: lines of key=value. Channels vary fastest, then slices, then frames.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "io/nodata.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

struct CountKey {
  const char* key;
  const char* axis;
};
constexpr CountKey kCountKeys[] = {{"frames", "t"}, {"slices", "z"}, {"channels", "c"}};  // slowest first

/// The count of this key; 1 if the key is missing, 0 if its value is not a valid count.
std::int64_t parse_count(std::string_view text, std::string_view key) {
  const std::string_view value = imagej_value(text, key);
  if (value.empty()) return 1;
  const std::int64_t count = whole_number_of(value).value_or(0);
  constexpr std::int64_t kMax = 1 << 30;
  return count < kMax ? count : 0;
}

bool is_count_key(std::string_view key) {
  return key == "images" || key == "frames" || key == "slices" || key == "channels" || key == "hyperstack";
}

/// Whether unreadable_numbers() lists this line.
bool has_unreadable_number(std::string_view line, std::string_view key) {
  return std::ranges::find(kImagejSizes, key) != std::end(kImagejSizes) &&
         is_unreadable_size(imagej_value(line, key));
}

bool is_dropped(std::string_view key, const ImageChange& change) {
  if (key == "min" || key == "max") return change.values || change.type;
  if (key == "xorigin" || key == "yorigin") return change.map != PixelTransform{};
  return (key == "unit" || key == "yunit" || key == "zunit" || key == "spacing") && !change.map;
}

}  // namespace

std::string_view imagej_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || !line.substr(key.size()).starts_with('=')) continue;
    const std::string_view value = line.substr(key.size() + 1);
    return value.substr(0, value.size() - (value.ends_with('\r') ? 1 : 0));
  }
  return {};
}

bool is_imagej(std::string_view description) noexcept {
  return description.starts_with("ImageJ=") || description.starts_with("SCIFIO=");
}

bool imagej_has_more(std::string_view text) {
  constexpr std::string_view kKnown[] = {"ImageJ", "SCIFIO", "unit",      "yunit", "zunit", "spacing",
                                         "tunit",  "fps",    "finterval", "mode",  "loop",  "vunit"};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view key = line.substr(0, line.find('='));
    if (key.find_first_not_of(" \r") != key.npos && !is_count_key(key) &&
        std::ranges::find(kKnown, key) == std::end(kKnown))
      return true;
  }
  return false;
}

Stack read_imagej(const std::string& text, const SampleSpec& spec, std::int64_t pages) {
  Stack stack;
  const std::int64_t images = parse_count(text, "images");
  std::int64_t product = 1;
  for (const auto& [key, axis] : kCountKeys) {
    const std::int64_t count = parse_count(text, key);
    if (count == 0 || images == 0 || __builtin_mul_overflow(product, count, &product)) {
      stack.problem = "ImageJ's description has invalid counts";
      return stack;
    }
    if (count > 1) stack.axes.push_back({axis, count});
  }
  // In ImageJ's 48-bit RGB the three samples of the only page are counted as images.
  if (pages == 1 && product == images && spec.channels == images && images == parse_count(text, "channels"))
    return {};
  if (product == images || imagej_value(text, "images").empty()) return stack;
  if (product == 1) {
    stack.axes = {{"page", images}};
    return stack;
  }
  const std::string counts = to_string(stack.axes);
  // The channels of RGB pages may be counted as an axis, too.
  std::erase_if(stack.axes,
                [&](const RasterAxis& axis) { return axis.name == "c" && axis.size == spec.channels; });
  if (raster_count(stack.axes) != images)
    stack.problem = fmt::format("ImageJ's description contradicts itself: it counts {}, and {}",
                                count_text(images, "image"), counts);
  return stack;
}

std::string describe_imagej(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                            std::vector<std::string>& lost) {
  const std::int64_t images = raster_count(axes);
  std::string counts = images > 1 ? fmt::format("images={}\n", images) : "";
  std::int64_t counted_images = 1;
  int long_axes = 0;
  for (const char* const axis : {"c", "z", "t"}) {
    const RasterAxis* const found = find_axis(axes, axis);
    if (found == nullptr || found->size == 1) continue;
    const auto* const count =
        std::ranges::find_if(kCountKeys, [&](const CountKey& c) { return found->name == c.axis; });
    counts += fmt::format("{}={}\n", count->key, found->size);
    counted_images *= found->size;
    ++long_axes;
  }
  // Any other range of pages is written as a stack of slices.
  if (counted_images != images) counts += fmt::format("slices={}\n", images);
  if (long_axes > 1) counts += "hyperstack=true\n";
  const RasterAxis* const c = find_axis(axes, "c");
  const bool has_channels = change.to.channels > 1 || (c != nullptr && c->size > 1);
  std::string result;
  std::vector<std::string> dropped;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::string_view key = line.substr(0, line.find('='));
    if (is_dropped(key, change)) {
      if (std::ranges::find(dropped, key) == dropped.end()) dropped.emplace_back(key);
    } else if (!line.empty() && !is_count_key(key) && !has_unreadable_number(line, key) &&
               (has_channels || line != "mode=composite")) {
      result += fmt::format("{}\n", line);
    }
    if (rest.data() == text.data()) result += counts;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  if (!dropped.empty())
    lost.push_back(fmt::format("of ImageJ's description are left out: {}; they are of the source's {}",
                               fmt::join(dropped, ", "),
                               change.map == PixelTransform{} ? "values" : "values and places"));
  return result;
}

}  // namespace sepconv
