// tifffile's description: JSON with the shape of all pages as one array, {"shape": [2, 30, 480, 640]}.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "io/foreign_json.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

using nlohmann::ordered_json;
using Shape = std::vector<std::int64_t>;

/// Null unless the text is an object.
ordered_json parsed(const std::string& text) {
  ordered_json all = parse_ordered(text);
  return all.is_object() ? all : ordered_json();
}

/// Empty if it is missing or invalid.
Shape shape_of(const ordered_json& all) {
  Shape shape;
  if (!all.is_object() || !all.contains("shape") || !all["shape"].is_array()) return {};
  for (const ordered_json& side : all["shape"]) {
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

void set_shape(ordered_json& all, const SampleSpec& spec, const RasterAxes& axes, bool planar) {
  Shape shape;
  for (const RasterAxis& axis : axes) {
    if (!axis.single) shape.push_back(axis.size);
  }
  for (const std::int64_t side : sides_of(spec, planar)) shape.push_back(side);
  all["shape"] = shape;
  const auto is_named = [](const RasterAxis& axis) { return axis.name.size() == 1; };
  if (all.contains("axes") || std::ranges::any_of(axes, is_named))
    all["axes"] = letters_of(spec, axes, planar);
}

std::string text_of(const ordered_json& all) {
  return all.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

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

std::vector<std::string> channel_names(const ordered_json& all) {
  std::vector<std::string> names;
  if (!all.is_object() || !all.contains("Channel") || !all["Channel"].is_object()) return names;
  const ordered_json& names_json = all["Channel"].contains("Name") ? all["Channel"]["Name"] : ordered_json();
  if (!names_json.is_array()) return names;
  for (const ordered_json& name : names_json)
    names.push_back(name.is_string() ? name.get<std::string>() : "");
  return names;
}

/// Transforms the sizes along rows and columns for the result.
void move_sizes(ordered_json& all, const std::optional<PixelTransform>& map) {
  const auto is_size = [&](const char* name) { return all.contains(name) && all[name].is_number(); };
  if (!map) {
    for (const char* const name : {"PhysicalSizeX", "PhysicalSizeY"}) all.erase(name);
    return;
  }
  if (is_size("PhysicalSizeX")) all["PhysicalSizeX"] = all["PhysicalSizeX"].get<double>() * map->cols;
  if (is_size("PhysicalSizeY")) all["PhysicalSizeY"] = all["PhysicalSizeY"].get<double>() * map->rows;
  if (!map->turned) return;
  for (const auto& [first_name, second_name] :
       {std::pair("PhysicalSizeX", "PhysicalSizeY"), std::pair("PhysicalSizeXUnit", "PhysicalSizeYUnit")}) {
    const ordered_json first = all.value(first_name, ordered_json()),
                       second = all.value(second_name, ordered_json());
    all.erase(first_name), all.erase(second_name);
    if (!second.is_null()) all[first_name] = second;
    if (!first.is_null()) all[second_name] = first;
  }
}

/// Keeps the names of the remaining channels.
void select_channel_names(ordered_json& all, const RasterAxes& axes, const ImageChange& change) {
  std::vector<std::string> names = channel_names(all);
  if (names.empty()) return;
  const RasterAxis* const c = find_axis(axes, "c");
  const auto first = static_cast<std::size_t>(c == nullptr ? 0 : c->first);
  const auto count = static_cast<std::size_t>(c == nullptr ? change.to.channels : c->size);
  if (change.channels || first + count > names.size()) {
    all.erase("Channel");
  } else {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(first);
    all["Channel"]["Name"] = std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
}

}  // namespace

bool shaped_has_more(const std::string& json) {
  const ordered_json all = parsed(json);
  return std::ranges::any_of(all.items(), [](const auto& member) {
    const std::string& key = member.key();
    return key != "shape" && key != "axes" && key != "truncated" && key != "Channel" && !is_size_member(key);
  });
}

OmeImage ome_image_of_shaped(const std::string& json) {
  const ordered_json all = parsed(json);
  OmeImage image;
  for (const auto& [axis, name, unit, default_unit] : kSizeMembers) {
    if (!all.is_object() || !all.contains(name) || !all[name].is_number()) continue;
    const double size = all[name].get<double>();
    const bool has_unit = all.contains(unit) && all[unit].is_string();
    if (std::isfinite(size) && size > 0) {
      OmeAxis& image_axis = ome_axis(image, axis);
      image_axis.scale = size;
      image_axis.unit = has_unit ? ome_unit(all[unit].get<std::string>()) : default_unit;
    }
  }
  for (std::string& name : channel_names(all)) image.channels.push_back({.name = std::move(name)});
  return image;
}

Stack read_shaped(const std::string& json, const SampleSpec& spec) {
  Stack stack;
  const ordered_json all = parsed(json);
  const Shape shape = shape_of(all);
  std::string names;
  if (all.is_object() && all.contains("axes") && all["axes"].is_string()) names = all["axes"];
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
  ordered_json all = parsed(json);
  if (shape_of(all).empty()) return "";
  all.erase("truncated");
  move_sizes(all, change.map);
  select_channel_names(all, axes, change);
  set_shape(all, change.made(), axes, false);
  return text_of(all);
}

std::string new_shaped(const SampleSpec& spec, const RasterAxes& axes) {
  ordered_json all = {{"shape", ordered_json::array()}, {"axes", ""}};
  set_shape(all, spec, axes, false);
  return text_of(all);
}

std::string with_channels_at(const std::string& description, const SampleSpec& spec, bool planar) {
  if (!is_shaped(description) || spec.channels == 1 || !planar) return description;
  ordered_json all = parsed(description);
  const Shape shape = shape_of(all);
  if (!ends_with(shape, sides_of(spec, false))) return description;
  std::string names;
  if (all.contains("axes") && all["axes"].is_string()) names = all["axes"];
  set_shape(all, spec, leading_axes(shape, 3, names), true);
  return text_of(all);
}

std::string shaped_of_level(const std::string& description, const SampleSpec& spec, Extent level) {
  if (!is_shaped(description)) return "";
  ordered_json all = parsed(description);
  const Shape shape = shape_of(all);
  for (const bool planar : {false, true}) {
    const Shape sides = sides_of(spec, planar);
    if (!ends_with(shape, sides)) continue;
    const std::size_t rows = shape.size() - sides.size() + (planar && spec.channels > 1 ? 1 : 0);
    all["shape"][rows] = level.rows;
    all["shape"][rows + 1] = level.cols;
    return text_of(all);
  }
  return "";
}

}  // namespace sepconv
