#include "io/stack/ngff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <string_view>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/foreign_json.hpp"
#include "io/safe_relative_path.hpp"

namespace sepconv {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxAxes = 5;
constexpr std::size_t kMaxLevels = 64;
/// Wells of a plate, label images, images of a group.
constexpr std::size_t kMaxNames = 100'000;
constexpr std::size_t kVersionSize = 3;
/// For OME-Zarr's metadata, what a group may be; and what is read of an image, its axes and its levels.
constexpr std::string_view kParts[] = {"multiscales", "omero",    "labels",
                                       "plate",       "well",     "image-label",
                                       "version",     "_creator", "bioformats2raw.layout"};
constexpr std::string_view kOfImage[] = {"name",    "axes", "datasets", "coordinateTransformations",
                                         "version", "type", "metadata"};
constexpr std::string_view kOfAxis[] = {"name", "type", "unit"};
constexpr std::string_view kOfTransformation[] = {"type", "scale", "translation"};
constexpr std::string_view kOfLevel[] = {"path", "coordinateTransformations"};

/// Reads one group's attributes; errors begin with its name.
class NgffReader {
 public:
  explicit NgffReader(const std::string& where) : where_(where) {}

  NgffGroup group(const Json& attributes) const {
    NgffGroup group;
    const Json* const ome = member(attributes, "ome", Json::value_t::object);
    const Json& said = ome != nullptr ? *ome : attributes;
    group.said_version = version_of(said, ome != nullptr);
    group.version = group.said_version.substr(0, kVersionSize);
    if (const Json* const list = member(said, "multiscales", Json::value_t::array)) {
      bounded(*list, "multiscales");
      // For several one is chosen by its arrays, and nothing else of them is read.
      const bool is_one = list->size() == 1;
      const Json* const omero = is_one ? member(said, "omero", Json::value_t::object) : nullptr;
      for (const Json& one : *list) group.images.push_back(multiscale(one, omero));
      // For 0.4 others are attributes like any, which go along; but not who made the source.
      if (is_one) {
        NgffMultiscale& image = group.images.front();
        if (ome != nullptr) add_others(said, kParts, "", image.others);
        if (attributes.contains("_creator") || said.contains("_creator"))
          image.others.emplace_back("_creator");
        if (!said.value("image-label", Json()).is_null())
          image.image.label = label_of(said["image-label"], image.others);
      }
    }
    if (const Json* const labels = member(said, "labels", Json::value_t::array)) {
      bounded(*labels, "labels");
      for (const Json& label : *labels) group.labels.push_back(path(label, "a label"));
    }
    if (const Json* const plate = member(said, "plate", Json::value_t::object))
      group.wells = paths(*plate, "wells");
    if (const Json* const well = member(said, "well", Json::value_t::object))
      group.fields = paths(*well, "images");
    Json others = attributes;
    for (const std::string_view name : kParts) others.erase(std::string(name));
    others.erase("ome");
    if (!others.empty()) group.others = others.dump();
    return group;
  }

 private:
  [[noreturn]] void refuse(const std::string& fact) const {
    throw IoError(fmt::format("{}: its OME-Zarr metadata {}; name one of its arrays to read it as it is",
                              where_, fact));
  }

  /// Null if there is none, or it is null; `type` is what it has to be.
  const Json* member(const Json& object, const char* name, Json::value_t type) const {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return nullptr;
    if (found->type() != type)
      refuse(fmt::format("are damaged: {} is no {}", name,
                         type == Json::value_t::array    ? "list"
                         : type == Json::value_t::object ? "object"
                                                         : "text"));
    return &*found;
  }
  const Json& needed(const Json& object, const char* name, Json::value_t type, const char* of) const {
    if (!object.is_object()) refuse(fmt::format("are damaged: {} is not an object", of));
    const Json* const found = member(object, name, type);
    if (found == nullptr) refuse(fmt::format("are damaged: {} has no {}", of, name));
    return *found;
  }
  void bounded(const Json& list, const char* name) const {
    if (list.size() > kMaxNames)
      refuse(fmt::format("list {} {}, and {} are read", list.size(), name, kMaxNames));
  }

  /// That of 0.5 is the object's; before, each part states it, or none. What follows it ("0.5-dev-NAME") is
  /// somebody's who adds to it.
  std::string version_of(const Json& said, bool in_ome) const {
    std::string version = in_ome ? "" : "0.4";
    bool is_one = in_ome;
    const auto look = [&](const Json& part) {
      is_one = true;
      if (!part.is_object() || !part.contains("version")) return;
      if (!part["version"].is_string()) refuse("are damaged: version is not text");
      version = part["version"].get<std::string>();
    };
    if (in_ome) look(said);
    for (const char* const part : {"plate", "well"})
      if (!in_ome && said.contains(part)) look(said[part]);
    if (!in_ome && said.contains("multiscales") && said["multiscales"].is_array())
      for (const Json& one : said["multiscales"]) look(one);
    is_one = is_one || said.contains("labels") || said.contains("bioformats2raw.layout");
    // ome-zarr-py leaves it to the image that the labels are of.
    if (in_ome && version.empty() && said.contains("labels")) version = "0.5";
    if (!is_one) return "";
    const std::string due = in_ome ? "0.5" : "0.4";
    if (version != due && !version.starts_with(due + "-") && !version.starts_with(due + "+"))
      refuse(fmt::format("are of version {}, and {} \"ome\" {} is read",
                         version.empty() ? "none" : printable(version.substr(0, 20)),
                         in_ome ? "in" : "without", due));
    return version;
  }

  std::string text(const Json& object, const char* name) const {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  }

  std::string path(const Json& value, const char* of) const {
    if (!value.is_string() || !is_inner_key(value.get<std::string>()))
      refuse(fmt::format("are damaged: the path of {} leads out of its group", of));
    return value.get<std::string>();
  }
  std::vector<std::string> paths(const Json& object, const char* name) const {
    const Json& list = needed(object, name, Json::value_t::array, "a plate or well");
    bounded(list, name);
    std::vector<std::string> all;
    for (const Json& one : list) all.push_back(path(needed(one, "path", Json::value_t::string, name), name));
    return all;
  }

  /// The names of what else an object says.
  static void add_others(const Json& object, std::span<const std::string_view> known, const std::string& of,
                         std::vector<std::string>& others) {
    for (const auto& [name, value] : object.items())
      if (std::ranges::find(known, name) == known.end())
        others.push_back(printable(name) + (of.empty() ? "" : " of " + printable(of)));
  }

  std::vector<OmeAxis> axes(const Json& list, std::vector<std::string>& others) const {
    std::vector<OmeAxis> axes;
    if (list.size() < 2 || list.size() > kMaxAxes)
      refuse(fmt::format("state {} axes, and an image has 2 to {}", list.size(), kMaxAxes));
    std::set<std::string> names;
    for (const Json& axis : list) {
      const auto name = needed(axis, "name", Json::value_t::string, "an axis").get<std::string>();
      if (!names.insert(name).second) refuse(fmt::format("have two axes {}", printable(name)));
      axes.push_back({name, text(axis, "type"), text(axis, "unit")});
      add_others(axis, kOfAxis, "axis " + name, others);
    }
    const auto is_last = [&](std::size_t from_end, const char* name) {
      return axes[axes.size() - from_end].name == name;
    };
    if (!is_last(2, "y") || !is_last(1, "x")) refuse("do not end the axes with y and x");
    return axes;
  }

  std::vector<double> numbers(const Json& list, std::size_t count) const {
    std::vector<double> values;
    for (const Json& value : list) {
      if (!value.is_number() || !std::isfinite(value.get<double>()))
        refuse("are damaged: a coordinate transformation has what is not a number");
      values.push_back(value.get<double>());
    }
    if (values.size() != count)
      refuse(fmt::format("are damaged: a coordinate transformation has {} numbers for {} axes", values.size(),
                         count));
    return values;
  }

  /// Puts the transformations behind those that `level` has already.
  void transform(const Json& list, NgffLevel& level) const {
    for (const Json& one : list) {
      const auto type =
          needed(one, "type", Json::value_t::string, "a coordinate transformation").get<std::string>();
      if (type == "identity") continue;
      if (type != "scale" && type != "translation")
        refuse(fmt::format("have a coordinate transformation {}, and scale and translation are known",
                           printable(type)));
      const std::vector<double> values = numbers(
          needed(one, type.c_str(), Json::value_t::array, "a coordinate transformation"), level.scale.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (type == "scale") level.scale[i] *= values[i];
        level.translation[i] =
            type == "scale" ? level.translation[i] * values[i] : level.translation[i] + values[i];
        if (!std::isfinite(level.scale[i]) || !std::isfinite(level.translation[i]))
          refuse("are damaged: coordinate transformations lead to no number");
      }
    }
  }

  /// Those of all levels. Where they name what they lead to ("output"), as spatialdata's do, each leads to a
  /// coordinate system of its own, and the first is taken.
  Json common_transformations(const Json& image, std::vector<std::string>& others) const {
    constexpr const char* kName = "coordinateTransformations";
    const Json* const said = member(image, kName, Json::value_t::array);
    if (said == nullptr) return Json::array();
    Json taken = *said;
    const bool lead_elsewhere =
        std::ranges::all_of(taken, [](const Json& one) { return one.is_object() && one.contains("output"); });
    if (lead_elsewhere && taken.size() > 1) {
      others.push_back(fmt::format("{} but the first", kName));
      taken.erase(taken.begin() + 1, taken.end());
    }
    for (const Json& one : taken)
      if (one.is_object()) add_others(one, kOfTransformation, kName, others);
    return taken;
  }

  NgffMultiscale multiscale(const Json& one, const Json* omero) const {
    NgffMultiscale result;
    result.image.axes = axes(needed(one, "axes", Json::value_t::array, "multiscales"), result.others);
    add_others(one, kOfImage, "", result.others);
    result.image.name = text(one, "name");
    const Json& datasets = needed(one, "datasets", Json::value_t::array, "multiscales");
    if (datasets.empty() || datasets.size() > kMaxLevels)
      refuse(fmt::format("list {} levels, and an image has 1 to {}", datasets.size(), kMaxLevels));
    const Json of_all = common_transformations(one, result.others);
    for (const Json& dataset : datasets) {
      NgffLevel level{path(needed(dataset, "path", Json::value_t::string, "a dataset"), "a dataset"),
                      std::vector<double>(result.image.axes.size(), 1),
                      std::vector<double>(result.image.axes.size(), 0)};
      transform(needed(dataset, "coordinateTransformations", Json::value_t::array, "a dataset"), level);
      transform(of_all, level);
      add_others(dataset, kOfLevel, "level " + level.path, result.others);
      result.levels.push_back(std::move(level));
    }
    // How the levels were made, by a word ("type") and in full. They are made again, and the word is said of
    // them.
    if (one.contains("metadata") && !one["metadata"].is_null()) result.others.emplace_back("metadata");
    if (omero != nullptr) read_omero(*omero, result);
    return result;
  }

  void read_omero(const Json& omero, NgffMultiscale& result) const {
    for (const auto& [name, value] : omero.items())
      if (name != "channels" && name != "version") result.others.push_back(printable(name));
    const Json* const channels = member(omero, "channels", Json::value_t::array);
    if (channels == nullptr) return;
    bounded(*channels, "channels");
    for (const Json& channel : *channels) {
      if (!channel.is_object()) refuse("are damaged: a channel is not an object");
      result.image.channels.push_back(read_channel(channel));
    }
  }

  /// Without where the image is that the things are of: this is said of a label image in its place.
  static std::string label_of(const Json& said, std::vector<std::string>& others) {
    static const Json kUsualSource = {{"image", "../../"}};
    Json label = said.is_object() ? said : Json::object();
    if (label.contains("source") && label["source"] != kUsualSource)
      others.emplace_back("source of image-label");
    for (const char* const name : {"version", "source"}) label.erase(name);
    return label.dump();
  }

  OmeChannel read_channel(const Json& channel) const {
    OmeChannel read{text(channel, "label")};
    const std::string color = text(channel, "color");
    std::uint32_t rgb = 0;
    const auto [end, error] = std::from_chars(color.data(), color.data() + color.size(), rgb, 16);
    if (color.size() == 6 && error == std::errc() && end == color.data() + color.size()) read.rgb = rgb;
    Json rest = channel;
    if (const Json* const window = member(channel, "window", Json::value_t::object)) {
      OmeWindow values;
      bool whole = true;
      for (const auto& [name, value] : {std::pair("min", &values.min), std::pair("max", &values.max),
                                        std::pair("start", &values.start), std::pair("end", &values.end)}) {
        whole = whole && window->contains(name) && (*window)[name].is_number();
        if (whole) *value = (*window)[name].get<double>();
      }
      if (whole) read.window = values;
    }
    for (const char* const name : {"label", "color", "window"}) rest.erase(name);
    if (!rest.empty()) read.rest = rest.dump();
    return read;
  }

  const std::string& where_;
};

}  // namespace

OmeImage NgffMultiscale::at_level(std::size_t level) const {
  OmeImage at = image;
  for (std::size_t i = 0; i < at.axes.size(); ++i) {
    at.axes[i].scale = levels.at(level).scale[i];
    at.axes[i].translation = levels.at(level).translation[i];
  }
  return at;
}

NgffGroup read_ngff(const std::string& attributes, const std::string& where) {
  const Json all = parse_ordered(attributes);
  return all.is_object() ? NgffReader(where).group(all) : NgffGroup{};
}

}  // namespace sepconv
