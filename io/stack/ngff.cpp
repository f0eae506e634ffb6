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
/// Maximum number of wells of a plate, label images, or images of a group.
constexpr std::size_t kMaxNames = 100'000;
constexpr std::size_t kVersionSize = 3;
/// The members of OME-Zarr metadata, and the members that are read of an image, its axes and its levels.
constexpr std::string_view kGroupMembers[] = {"multiscales", "omero",    "labels",
                                              "plate",       "well",     "image-label",
                                              "version",     "_creator", "bioformats2raw.layout"};
constexpr std::string_view kImageMembers[] = {"name",    "axes", "datasets", "coordinateTransformations",
                                              "version", "type", "metadata"};
constexpr std::string_view kAxisMembers[] = {"name", "type", "unit"};
constexpr std::string_view kTransformationMembers[] = {"type", "scale", "translation"};
constexpr std::string_view kLevelMembers[] = {"path", "coordinateTransformations"};

/// Parses the attributes of one group. Error messages begin with its name.
class NgffReader {
 public:
  explicit NgffReader(const std::string& where) : where_(where) {}

  NgffGroup group(const Json& attributes) const {
    NgffGroup group;
    const Json* const ome = member(attributes, "ome", Json::value_t::object);
    const Json& root = ome != nullptr ? *ome : attributes;
    group.full_version = version_of(root, ome != nullptr);
    group.version = group.full_version.substr(0, kVersionSize);
    if (const Json* const list = member(root, "multiscales", Json::value_t::array)) {
      check_count(*list, "multiscales");
      // If there are several images, the user chooses one by its array, and omero is ignored.
      const bool is_single = list->size() == 1;
      const Json* const omero = is_single ? member(root, "omero", Json::value_t::object) : nullptr;
      for (const Json& entry : *list) group.images.push_back(multiscale(entry, omero));
      // In 0.4 other members are ordinary attributes, which are copied to the result, except `_creator`.
      if (is_single) {
        NgffMultiscale& image = group.images.front();
        if (ome != nullptr) add_others(root, kGroupMembers, "", image.others);
        if (attributes.contains("_creator") || root.contains("_creator"))
          image.others.emplace_back("_creator");
        if (!root.value("image-label", Json()).is_null())
          image.image.label = label_of(root["image-label"], image.others);
      }
    }
    if (const Json* const labels = member(root, "labels", Json::value_t::array)) {
      check_count(*labels, "labels");
      for (const Json& label : *labels) group.labels.push_back(path(label, "a label"));
    }
    if (const Json* const plate = member(root, "plate", Json::value_t::object))
      group.wells = paths(*plate, "wells");
    if (const Json* const well = member(root, "well", Json::value_t::object))
      group.fields = paths(*well, "images");
    Json others = attributes;
    for (const std::string_view name : kGroupMembers) others.erase(std::string(name));
    others.erase("ome");
    if (!others.empty()) group.others = others.dump();
    return group;
  }

 private:
  [[noreturn]] void refuse(const std::string& fact) const {
    throw IoError(fmt::format("{}: its OME-Zarr metadata {}; name one of its arrays to read it as it is",
                              where_, fact));
  }

  /// Null if the member does not exist or is null. Throws unless it has this type.
  const Json* member(const Json& object, const char* name, Json::value_t type) const {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return nullptr;
    if (found->type() != type)
      refuse(fmt::format("are damaged: {} is not {}", name,
                         type == Json::value_t::array    ? "a list"
                         : type == Json::value_t::object ? "an object"
                                                         : "text"));
    return &*found;
  }
  const Json& required(const Json& object, const char* name, Json::value_t type, const char* owner) const {
    if (!object.is_object()) refuse(fmt::format("are damaged: {} is not an object", owner));
    const Json* const found = member(object, name, type);
    if (found == nullptr) refuse(fmt::format("are damaged: {} has no {}", owner, name));
    return *found;
  }
  void check_count(const Json& list, const char* name) const {
    if (list.size() > kMaxNames)
      refuse(fmt::format("list {} {}, and {} are read", list.size(), name, kMaxNames));
  }

  /// A member of "ome" in 0.5, and of each part in 0.4, where it is optional. May end in "-dev-NAME".
  std::string version_of(const Json& root, bool in_ome) const {
    std::string version = in_ome ? "" : "0.4";
    bool is_ngff_group = in_ome;
    const auto read_version = [&](const Json& part) {
      is_ngff_group = true;
      if (!part.is_object() || !part.contains("version")) return;
      if (!part["version"].is_string()) refuse("are damaged: version is not text");
      version = part["version"].get<std::string>();
    };
    if (in_ome) read_version(root);
    for (const char* const part : {"plate", "well"})
      if (!in_ome && root.contains(part)) read_version(root[part]);
    if (!in_ome && root.contains("multiscales") && root["multiscales"].is_array())
      for (const Json& image : root["multiscales"]) read_version(image);
    is_ngff_group = is_ngff_group || root.contains("labels") || root.contains("bioformats2raw.layout");
    // ome-zarr-py states the version only in the image that the labels belong to.
    if (in_ome && version.empty() && root.contains("labels")) version = "0.5";
    if (!is_ngff_group) return "";
    const std::string expected = in_ome ? "0.5" : "0.4";
    if (version != expected && !version.starts_with(expected + "-") && !version.starts_with(expected + "+"))
      refuse(fmt::format("are of version {}, and {} \"ome\" {} is read",
                         version.empty() ? "none" : printable(version.substr(0, 20)),
                         in_ome ? "in" : "without", expected));
    return version;
  }

  std::string text(const Json& object, const char* name) const {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  }

  std::string path(const Json& value, const char* owner) const {
    if (!value.is_string() || !is_safe_relative_path(value.get<std::string>()))
      refuse(fmt::format("are damaged: the path of {} leads out of its group", owner));
    return value.get<std::string>();
  }
  std::vector<std::string> paths(const Json& object, const char* name) const {
    const Json& list = required(object, name, Json::value_t::array, "a plate or well");
    check_count(list, name);
    std::vector<std::string> result;
    for (const Json& entry : list)
      result.push_back(path(required(entry, "path", Json::value_t::string, name), name));
    return result;
  }

  /// Adds the names of the other members of an object to `others`.
  static void add_others(const Json& object, std::span<const std::string_view> known,
                         const std::string& owner, std::vector<std::string>& others) {
    for (const auto& [name, value] : object.items())
      if (std::ranges::find(known, name) == known.end())
        others.push_back(printable(name) + (owner.empty() ? "" : " of " + printable(owner)));
  }

  std::vector<OmeAxis> axes(const Json& list, std::vector<std::string>& others) const {
    std::vector<OmeAxis> axes;
    if (list.size() < 2 || list.size() > kMaxAxes)
      refuse(fmt::format("state {} axes, and an image has 2 to {}", list.size(), kMaxAxes));
    std::set<std::string> names;
    for (const Json& axis : list) {
      const auto name = required(axis, "name", Json::value_t::string, "an axis").get<std::string>();
      if (!names.insert(name).second) refuse(fmt::format("have two axes {}", printable(name)));
      axes.push_back({name, text(axis, "type"), text(axis, "unit")});
      add_others(axis, kAxisMembers, "axis " + name, others);
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
      refuse(fmt::format("are damaged: a transformation has {} numbers for {} axes", values.size(), count));
    return values;
  }

  /// Applies the transformations after those already in `level`.
  void apply_transformations(const Json& all, NgffLevel& level) const {
    for (const Json& transformation : all) {
      const auto type = required(transformation, "type", Json::value_t::string, "a coordinate transformation")
                            .get<std::string>();
      if (type == "identity") continue;
      if (type != "scale" && type != "translation")
        refuse(fmt::format("have a coordinate transformation {}, and scale and translation are known",
                           printable(type)));
      const Json& list = required(transformation, type.c_str(), Json::value_t::array, "a transformation");
      const std::vector<double> values = numbers(list, level.scale.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (type == "scale") level.scale[i] *= values[i];
        level.translation[i] =
            type == "scale" ? level.translation[i] * values[i] : level.translation[i] + values[i];
        if (!std::isfinite(level.scale[i]) || !std::isfinite(level.translation[i]))
          refuse("are damaged: coordinate transformations lead to no number");
      }
    }
  }

  /// The transformations common to all levels; only the first if each has an "output" (spatialdata).
  Json common_transformations(const Json& image, std::vector<std::string>& others) const {
    constexpr const char* kName = "coordinateTransformations";
    const Json* const listed = member(image, kName, Json::value_t::array);
    if (listed == nullptr) return Json::array();
    Json used = *listed;
    const bool have_outputs = std::ranges::all_of(used, [](const Json& transformation) {
      return transformation.is_object() && transformation.contains("output");
    });
    if (have_outputs && used.size() > 1) {
      others.push_back(fmt::format("{} but the first", kName));
      used.erase(used.begin() + 1, used.end());
    }
    for (const Json& transformation : used)
      if (transformation.is_object()) add_others(transformation, kTransformationMembers, kName, others);
    return used;
  }

  NgffMultiscale multiscale(const Json& multiscales, const Json* omero) const {
    NgffMultiscale result;
    result.image.axes =
        axes(required(multiscales, "axes", Json::value_t::array, "multiscales"), result.others);
    add_others(multiscales, kImageMembers, "", result.others);
    result.image.name = text(multiscales, "name");
    const Json& datasets = required(multiscales, "datasets", Json::value_t::array, "multiscales");
    if (datasets.empty() || datasets.size() > kMaxLevels)
      refuse(fmt::format("list {} levels, and an image has 1 to {}", datasets.size(), kMaxLevels));
    const Json common = common_transformations(multiscales, result.others);
    for (const Json& dataset : datasets) {
      NgffLevel level{path(required(dataset, "path", Json::value_t::string, "a dataset"), "a dataset"),
                      std::vector<double>(result.image.axes.size(), 1),
                      std::vector<double>(result.image.axes.size(), 0)};
      apply_transformations(required(dataset, "coordinateTransformations", Json::value_t::array, "a dataset"),
                            level);
      apply_transformations(common, level);
      add_others(dataset, kLevelMembers, "level " + level.path, result.others);
      result.levels.push_back(std::move(level));
    }
    // "type" and "metadata" describe how the levels were computed; those of a result are recomputed.
    if (multiscales.contains("metadata") && !multiscales["metadata"].is_null())
      result.others.emplace_back("metadata");
    if (omero != nullptr) read_omero(*omero, result);
    return result;
  }

  void read_omero(const Json& omero, NgffMultiscale& result) const {
    for (const auto& [name, value] : omero.items())
      if (name != "channels" && name != "version") result.others.push_back(printable(name));
    const Json* const channels = member(omero, "channels", Json::value_t::array);
    if (channels == nullptr) return;
    check_count(*channels, "channels");
    for (const Json& channel : *channels) {
      if (!channel.is_object()) refuse("are damaged: a channel is not an object");
      result.image.channels.push_back(read_channel(channel));
    }
  }

  /// The members of image-label without version and source; the caller writes the source.
  static std::string label_of(const Json& image_label, std::vector<std::string>& others) {
    static const Json kUsualSource = {{"image", "../../"}};
    Json label = image_label.is_object() ? image_label : Json::object();
    if (label.contains("source") && label["source"] != kUsualSource)
      others.emplace_back("source of image-label");
    for (const char* const name : {"version", "source"}) label.erase(name);
    return label.dump();
  }

  OmeChannel read_channel(const Json& channel) const {
    OmeChannel result{text(channel, "label")};
    const std::string color = text(channel, "color");
    std::uint32_t rgb = 0;
    const auto [end, error] = std::from_chars(color.data(), color.data() + color.size(), rgb, 16);
    if (color.size() == 6 && error == std::errc() && end == color.data() + color.size()) result.rgb = rgb;
    Json rest = channel;
    if (const Json* const window = member(channel, "window", Json::value_t::object)) {
      OmeWindow values;
      bool is_complete = true;
      for (const auto& [name, value] : {std::pair("min", &values.min), std::pair("max", &values.max),
                                        std::pair("start", &values.start), std::pair("end", &values.end)}) {
        is_complete = is_complete && window->contains(name) && (*window)[name].is_number();
        if (is_complete) *value = (*window)[name].get<double>();
      }
      if (is_complete) result.window = values;
    }
    for (const char* const name : {"label", "color", "window"}) rest.erase(name);
    if (!rest.empty()) result.rest = rest.dump();
    return result;
  }

  const std::string& where_;
};

}  // namespace

OmeImage NgffMultiscale::at_level(std::size_t level) const {
  OmeImage result = image;
  for (std::size_t i = 0; i < result.axes.size(); ++i) {
    result.axes[i].scale = levels.at(level).scale[i];
    result.axes[i].translation = levels.at(level).translation[i];
  }
  return result;
}

NgffGroup read_ngff(const std::string& attributes, const std::string& where) {
  const Json all = parse_ordered(attributes);
  return all.is_object() ? NgffReader(where).group(all) : NgffGroup{};
}

}  // namespace sepconv
