// Writes the OME-Zarr metadata of a result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "io/foreign_json.hpp"
#include "io/stack/ngff.hpp"

namespace sepconv {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kNgffPrefix = "{\"ome\":";

Json axis_json(const OmeAxis& axis) {
  Json json = {{"name", axis.name}};
  if (!axis.type.empty()) json["type"] = axis.type;
  if (!axis.unit.empty()) json["unit"] = axis.unit;
  return json;
}

/// The transformations of a level. The centre of a pixel that represents `factor` pixels is in their middle,
/// for averaged and for subsampled levels.
Json transformations_json(const OmeImage& image, const std::vector<double>& factors) {
  Json scale = Json::array(), translation = Json::array();
  bool is_moved = false;
  for (std::size_t i = 0; i < image.axes.size(); ++i) {
    const OmeAxis& axis = image.axes[i];
    scale.push_back(axis.scale * factors[i]);
    const double offset = axis.translation + axis.scale * (factors[i] - 1) / 2;
    translation.push_back(offset);
    is_moved = is_moved || offset != 0;
  }
  Json list = {{{"type", "scale"}, {"scale", std::move(scale)}}};
  if (is_moved) list.push_back({{"type", "translation"}, {"translation", std::move(translation)}});
  return list;
}

Json channel_json(const OmeChannel& channel) {
  Json json = {{"label", channel.name}};
  if (channel.rgb) json["color"] = fmt::format("{:06X}", *channel.rgb);
  if (const auto& window = channel.window)
    json["window"] = {
        {"min", window->min}, {"max", window->max}, {"start", window->start}, {"end", window->end}};
  if (!channel.rest.empty()) update_ordered(json, parse_ordered(channel.rest));
  return json;
}

/// Transforms y and x with the pixels. Resets them if the map is unknown.
void move_axes(OmeImage& image, const std::optional<PixelTransform>& map) {
  if (map == PixelTransform{}) return;
  OmeAxis y = std::exchange(ome_axis(image, "y"), {"y", "space", ""});
  OmeAxis x = std::exchange(ome_axis(image, "x"), {"x", "space", ""});
  if (!map) return;
  y.translation += y.scale * (map->row + (map->rows - 1) / 2);
  x.translation += x.scale * (map->col + (map->cols - 1) / 2);
  y.scale *= map->rows;
  x.scale *= map->cols;
  if (map->turned) {
    std::swap(y, x);
    std::swap(y.name, x.name);
  }
  ome_axis(image, "y") = std::move(y);
  ome_axis(image, "x") = std::move(x);
}

/// Whether y or x has a scale, translation or unit.
bool has_coordinates(const OmeImage& image) {
  return std::ranges::any_of(image.axes, [](const OmeAxis& axis) {
    return (axis.name == "y" || axis.name == "x") &&
           (axis.scale != 1 || axis.translation != 0 || !axis.unit.empty());
  });
}

/// Returns whether there were any.
bool drop_windows(OmeImage& image) {
  bool any = false;
  for (OmeChannel& channel : image.channels) {
    any = any || channel.window.has_value();
    channel.window.reset();
  }
  return any;
}

/// Keeps the channels of the remaining positions. If they do not match, removes all and returns false.
bool select_ome_channels(OmeImage& image, const RasterAxes& axes, const ImageChange& change) {
  if (image.channels.empty()) return true;
  const RasterAxis* const c = find_axis(axes, "c");
  const std::int64_t first = c == nullptr ? 0 : c->first;
  const std::int64_t count = c == nullptr ? std::ssize(image.channels) : c->size;
  const bool fits = first + count <= std::ssize(image.channels) && !change.channels;
  if (fits) image.channels = {image.channels.begin() + first, image.channels.begin() + first + count};
  if (!fits) image.channels.clear();
  return fits;
}

}  // namespace

std::string ngff_attributes(const OmeImage& image, const std::vector<NgffLevelFactors>& levels, int zarr,
                            bool nearest, const std::string& others) {
  Json axes = Json::array(), datasets = Json::array(), channels = Json::array();
  for (const OmeAxis& axis : image.axes) axes.push_back(axis_json(axis));
  for (const auto& [path, factors] : levels)
    datasets.push_back({{"path", path}, {"coordinateTransformations", transformations_json(image, factors)}});
  for (const OmeChannel& channel : image.channels) channels.push_back(channel_json(channel));
  Json multiscale = {{"name", image.name}, {"axes", std::move(axes)}, {"datasets", std::move(datasets)}};
  if (image.name.empty()) multiscale.erase("name");
  if (levels.size() > 1) multiscale["type"] = nearest ? "nearest" : "mean";
  if (zarr == 2) multiscale["version"] = "0.4";
  Json metadata = zarr == 2 ? Json::object() : Json{{"version", "0.5"}};
  metadata["multiscales"] = Json::array({std::move(multiscale)});
  if (!channels.empty()) metadata["omero"]["channels"] = std::move(channels);
  if (!image.label.empty()) {
    Json& label = metadata["image-label"] = zarr == 2 ? Json{{"version", "0.4"}} : Json::object();
    update_ordered(label, parse_ordered(image.label));
  }
  Json attributes = others.empty() ? Json::object() : parse_ordered(others);
  update_ordered(attributes, zarr == 2 ? metadata : Json{{"ome", std::move(metadata)}});
  return attributes.dump(-1, ' ', false, Json::error_handler_t::replace);  // names may be invalid UTF-8
}

bool drop_overflowing_sizes(OmeImage& image) {
  constexpr double kMaxPixels = 0x1p62;
  bool any = false;
  for (OmeAxis& axis : image.axes) {
    if (std::isfinite(axis.scale * kMaxPixels) && std::isfinite(axis.translation * kMaxPixels)) continue;
    axis = {axis.name, axis.type, {}};
    any = true;
  }
  return any;
}

std::string convert_label_attributes(const std::string& attributes, int zarr, std::int64_t levels) {
  static constexpr const char* kGroupMembers[] = {"multiscales", "omero", "labels", "image-label"};
  Json others = parse_ordered(attributes);
  Json ome_members = others.value("ome", Json::object());
  ome_members.erase("version");
  others.erase("ome");
  for (const char* const name : kGroupMembers) {
    if (others.contains(name)) ome_members[name] = others[name];
    others.erase(name);
  }
  const auto set_version = [&](Json& part) {
    if (!part.is_object()) return;
    part.erase("version");
    if (zarr == 2) part["version"] = "0.4";
  };
  for (const char* const name : {"omero", "image-label"})
    if (ome_members.contains(name)) set_version(ome_members[name]);
  if (ome_members.contains("multiscales")) {
    for (Json& image : ome_members["multiscales"]) {
      Json& datasets = image["datasets"];
      while (std::ssize(datasets) > levels) datasets.erase(datasets.size() - 1);
      set_version(image);
    }
  }
  if (zarr == 3) {
    Json ome = {{"version", "0.5"}};
    update_ordered(ome, ome_members);
    ome_members = {{"ome", std::move(ome)}};
  }
  update_ordered(others, ome_members);
  return others.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_ngff(std::string_view description) noexcept { return description.starts_with(kNgffPrefix); }

std::string ngff_text(const OmeImage& image) {
  return ngff_attributes(image, {{"0", std::vector<double>(image.axes.size(), 1)}}, 3, false);
}

OmeImage parse_ngff_text(const std::string& text) {
  const NgffGroup group = read_ngff(text, "a description");
  if (group.images.size() != 1) throw IoError("a description: is none of OME-Zarr's of one image");
  return group.images.front().at_level(0);
}

std::string describe_ngff(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                          std::vector<std::string>& lost) {
  OmeImage image;
  try {
    image = parse_ngff_text(text);
  } catch (const IoError&) {
    return "";
  }
  const auto is_known = [&](const RasterAxis& axis) {
    return axis.size == 1 || std::ranges::find(image.axes, axis.name, &OmeAxis::name) != image.axes.end();
  };
  if (!std::ranges::all_of(axes, is_known)) {
    std::erase_if(image.axes, [](const OmeAxis& axis) { return axis.name != "y" && axis.name != "x"; });
    image.channels.clear();
    lost.emplace_back(
        "of the image are kept its name and the sizes of pixels along y and x: the description counts images "
        "in another way");
  }
  for (const RasterAxis& axis : axes) {
    const auto known_axis = std::ranges::find(image.axes, axis.name, &OmeAxis::name);
    if (known_axis != image.axes.end())
      known_axis->translation += known_axis->scale * static_cast<double>(axis.first);
  }
  if (!change.map && has_coordinates(image))
    lost.emplace_back(
        "the sizes of pixels along y and x are left out: rows and columns of the result are not the source's");
  move_axes(image, change.map);
  if (drop_overflowing_sizes(image)) lost.emplace_back(kOverflowingSizesWarning);
  if ((change.type || (change.values && !change.keeps_range)) && drop_windows(image))
    lost.emplace_back("the display range of channels (window) is left out: the values have changed");
  if ((change.type || change.values) && !std::exchange(image.label, "").empty())
    lost.emplace_back(
        "that values are object labels (image-label, its colours and properties) is left out: values are "
        "others");
  if (!select_ome_channels(image, axes, change))
    lost.emplace_back("names and colours of channels are left out: the result's are not the source's");
  return ngff_text(image);
}

}  // namespace sepconv
