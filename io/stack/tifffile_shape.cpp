// tifffile's description: JSON with the shape of all pages as one array, {"shape": [2, 30, 480, 640]}.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "io/foreign_json.hpp"
#include "io/json_text.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

using nlohmann::ordered_json;
using Shape = std::vector<std::int64_t>;

/// Null unless the text is an object.
ordered_json parsed(const std::string& text) {
  ordered_json root = parse_ordered(text);
  return root.is_object() ? root : ordered_json();
}

/// Empty if it is missing or invalid.
Shape shape_of(const ordered_json& root) {
  Shape shape;
  if (!root.is_object() || !root.contains("shape") || !root["shape"].is_array()) return {};
  for (const ordered_json& side : root["shape"]) {
    constexpr std::int64_t kMax = std::int64_t{1} << 31;
    if (!side.is_number_unsigned() || side.get<std::uint64_t>() > static_cast<std::uint64_t>(kMax) ||
        side.get<std::int64_t>() == 0 || shape.size() > 16)
      return {};
    shape.push_back(side.get<std::int64_t>());
  }
  return shape;
}

Shape sides_of(const SampleSpec& spec, bool planar) {
  const auto [rows, cols] = spec.extent;
  if (spec.channels == 1) return {rows, cols};
  return planar ? Shape{spec.channels, rows, cols} : Shape{rows, cols, spec.channels};
}

bool ends_with(const Shape& shape, const Shape& end) {
  return shape.size() >= end.size() && std::equal(end.rbegin(), end.rend(), shape.rbegin());
}

std::string letters_of(const SampleSpec& spec, const RasterAxes& axes, bool planar) {
  std::string letters;
  for (const RasterAxis& axis : axes) {
    if (axis.single) continue;
    letters += axis.name.size() == 1 ? static_cast<char>(std::toupper(axis.name[0])) : 'Q';
  }
  return letters + (spec.channels == 1 ? "YX" : planar ? "SYX" : "YXS");
}

/// The axes before the last `sides` ones. They get the letters of `names` if these are valid and unique.
RasterAxes leading_axes(const Shape& shape, std::size_t sides, std::string names) {
  RasterAxes axes;
  const std::size_t count = shape.size() - sides;
  std::ranges::transform(names, names.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string used = names.substr(0, std::min(count, names.size()));
  const bool named = names.size() == shape.size() && used.find_first_of("qyx") == used.npos &&
                     std::ranges::all_of(used, [&](char c) { return std::ranges::count(used, c) == 1; });
  for (std::size_t i = 0; i < count; ++i)
    axes.push_back({named        ? std::string(1, names[i])
                    : count == 1 ? "page"
                                 : "axis" + std::to_string(i),
                    shape[i]});
  return axes;
}

void set_shape(ordered_json& root, const SampleSpec& spec, const RasterAxes& axes, bool planar) {
  Shape shape;
  for (const RasterAxis& axis : axes) {
    if (!axis.single) shape.push_back(axis.size);
  }
  for (const std::int64_t side : sides_of(spec, planar)) shape.push_back(side);
  root["shape"] = shape;
  const auto is_named = [](const RasterAxis& axis) { return axis.name.size() == 1; };
  if (root.contains("axes") || std::ranges::any_of(axes, is_named))
    root["axes"] = letters_of(spec, axes, planar);
}

std::string text_of(const ordered_json& root) { return json_line(root); }

}  // namespace

bool is_shaped(std::string_view description) noexcept {
  return description.starts_with('{') && description.find("\"shape\"") != std::string_view::npos;
}

namespace {

/// A size member: its axis, name, the name of its unit member, and the unit if that is missing.
struct SizeMember {
  const char *axis, *name, *unit, *default_unit;
};
constexpr SizeMember kSizeMembers[] = {{"y", "PhysicalSizeY", "PhysicalSizeYUnit", "micrometer"},
                                       {"x", "PhysicalSizeX", "PhysicalSizeXUnit", "micrometer"},
                                       {"z", "PhysicalSizeZ", "PhysicalSizeZUnit", "micrometer"},
                                       {"t", "TimeIncrement", "TimeIncrementUnit", "second"},
                                       {"z", "spacing", "unit", ""},
                                       {"t", "finterval", "tunit", "second"}};

bool is_size_member(std::string_view key) {
  return std::ranges::any_of(
      kSizeMembers, [&](const SizeMember& member) { return key == member.name || key == member.unit; });
}

std::vector<std::string> channel_names(const ordered_json& root) {
  std::vector<std::string> names;
  if (!root.is_object() || !root.contains("Channel") || !root["Channel"].is_object()) return names;
  const ordered_json& names_json =
      root["Channel"].contains("Name") ? root["Channel"]["Name"] : ordered_json();
  if (!names_json.is_array()) return names;
  for (const ordered_json& name : names_json)
    names.push_back(name.is_string() ? name.get<std::string>() : "");
  return names;
}

/// Transforms the sizes along rows and columns for the result.
void move_sizes(ordered_json& root, const std::optional<PixelTransform>& map) {
  const auto is_size = [&](const char* name) { return root.contains(name) && root[name].is_number(); };
  if (!map) {
    for (const char* const name : {"PhysicalSizeX", "PhysicalSizeY"}) root.erase(name);
    return;
  }
  if (is_size("PhysicalSizeX")) root["PhysicalSizeX"] = root["PhysicalSizeX"].get<double>() * map->cols;
  if (is_size("PhysicalSizeY")) root["PhysicalSizeY"] = root["PhysicalSizeY"].get<double>() * map->rows;
  if (!map->turned) return;
  for (const auto& [first_name, second_name] :
       {std::pair("PhysicalSizeX", "PhysicalSizeY"), std::pair("PhysicalSizeXUnit", "PhysicalSizeYUnit")}) {
    const ordered_json first = root.value(first_name, ordered_json()),
                       second = root.value(second_name, ordered_json());
    root.erase(first_name), root.erase(second_name);
    if (!second.is_null()) root[first_name] = second;
    if (!first.is_null()) root[second_name] = first;
  }
}

/// Keeps the names of the remaining channels.
void select_channel_names(ordered_json& root, const RasterAxes& axes, const ImageChange& change) {
  std::vector<std::string> names = channel_names(root);
  if (names.empty()) return;
  const RasterAxis* const c = find_axis(axes, "c");
  const auto first = static_cast<std::size_t>(c == nullptr ? 0 : c->first);
  const auto count = static_cast<std::size_t>(c == nullptr ? change.to.channels : c->size);
  if (change.channels || first + count > names.size()) {
    root.erase("Channel");
  } else {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(first);
    root["Channel"]["Name"] = std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
}

}  // namespace

bool shaped_has_more(const std::string& json) {
  const ordered_json root = parsed(json);
  return std::ranges::any_of(root.items(), [](const auto& member) {
    const std::string& key = member.key();
    return key != "shape" && key != "axes" && key != "truncated" && key != "Channel" && !is_size_member(key);
  });
}

OmeImage ome_image_of_shaped(const std::string& json) {
  const ordered_json root = parsed(json);
  OmeImage image;
  for (const auto& [axis, name, unit, default_unit] : kSizeMembers) {
    if (!root.is_object() || !root.contains(name) || !root[name].is_number()) continue;
    const double size = root[name].get<double>();
    const bool has_unit = root.contains(unit) && root[unit].is_string();
    if (std::isfinite(size) && size > 0) {
      OmeAxis& image_axis = ome_axis(image, axis);
      image_axis.scale = size;
      image_axis.unit = has_unit ? ome_unit(root[unit].get<std::string>()) : default_unit;
    }
  }
  for (std::string& name : channel_names(root)) image.channels.push_back({.name = std::move(name)});
  return image;
}

Stack read_shaped(const std::string& json, const SampleSpec& spec) {
  Stack stack;
  const ordered_json root = parsed(json);
  const Shape shape = shape_of(root);
  std::string names;
  if (root.is_object() && root.contains("axes") && root["axes"].is_string()) names = root["axes"];
  std::int64_t product = 1;
  bool countable = true;
  for (const std::int64_t side : shape)
    countable = countable && !__builtin_mul_overflow(product, side, &product);
  for (const bool planar : {false, true}) {
    const Shape sides = sides_of(spec, planar);
    if (!countable || !ends_with(shape, sides)) continue;
    stack.axes = leading_axes(shape, sides.size(), names);
    return stack;
  }
  stack.problem = shape.empty() ? "its description is damaged (JSON with a shape)"
                                : "its description states another shape than its pages have";
  return stack;
}

std::string describe_shaped(const std::string& json, const RasterAxes& axes, const ImageChange& change) {
  ordered_json root = parsed(json);
  if (shape_of(root).empty()) return "";
  root.erase("truncated");
  move_sizes(root, change.map);
  select_channel_names(root, axes, change);
  set_shape(root, change.made(), axes, false);
  return text_of(root);
}

std::string create_shaped_description(const SampleSpec& spec, const RasterAxes& axes) {
  ordered_json root = {{"shape", ordered_json::array()}, {"axes", ""}};
  set_shape(root, spec, axes, false);
  return text_of(root);
}

std::string shaped_with_stored_channels(const std::string& description, const SampleSpec& spec, bool planar) {
  if (!is_shaped(description) || spec.channels == 1 || !planar) return description;
  ordered_json root = parsed(description);
  const Shape shape = shape_of(root);
  if (!ends_with(shape, sides_of(spec, false))) return description;
  std::string names;
  if (root.contains("axes") && root["axes"].is_string()) names = root["axes"];
  set_shape(root, spec, leading_axes(shape, 3, names), true);
  return text_of(root);
}

std::string shaped_for_level(const std::string& description, const SampleSpec& spec, Extent level) {
  if (!is_shaped(description)) return "";
  ordered_json root = parsed(description);
  const Shape shape = shape_of(root);
  for (const bool planar : {false, true}) {
    const Shape sides = sides_of(spec, planar);
    if (!ends_with(shape, sides)) continue;
    const std::size_t rows = shape.size() - sides.size() + (planar && spec.channels > 1 ? 1 : 0);
    root["shape"][rows] = level.rows;
    root["shape"][rows + 1] = level.cols;
    return text_of(root);
  }
  return "";
}

}  // namespace sepconv
