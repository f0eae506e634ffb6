#include "io/zarr/ome_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/join_names.hpp"
#include "io/metadata_text.hpp"
#include "io/zarr/ome_ancestors.hpp"
#include "io/zarr/ome_siblings.hpp"

namespace sepconv {
namespace {

/// Maximum depth of groups above an image. A plate's fields are two groups below it.
constexpr int kMaxGroups = 4;
constexpr std::size_t kShownVersion = 40;

/// The members of a group that are groups of images.
std::vector<std::string> images_in(const ZarrStore& store, const std::string& key) {
  constexpr std::size_t kMaxImages = 1000;
  std::vector<std::string> images;
  for (const std::string& name : store.folders(key, kMaxImages)) {
    const auto node = read_zarr_node(store, joined_key(key, name));
    if (node && !node->array &&
        !read_ngff(node->attributes, store.name_of(joined_key(key, name)).native()).images.empty())
      images.push_back(name);
  }
  return images;
}

/// The array of a level, with the axis names of the image.
ZarrArray level_array(const ZarrStore& store, const std::string& key, const OmeImage& image) {
  const auto node = read_zarr_node(store, key);
  const std::string name = store.name_of(key).native();
  if (!node || !node->array)
    throw IoError(
        fmt::format("cannot read {}: it is to be a level of an image, and there is no array; copy the image "
                    "again",
                    name));
  ZarrArray array = *node->array;
  if (array.shape.size() != image.axes.size())
    throw IoError(
        fmt::format("cannot read {}: it is to be an image of {} axes, and the array has {}; copy the image "
                    "again",
                    name, image.axes.size(), array.shape.size()));
  array.names = axis_names(image);
  return array;
}

/// Adds warnings about metadata that a result does not have, and marks label images.
void add_metadata_warnings(const ZarrStore& store, const std::string& key, const NgffGroup& group,
                           const NgffMultiscale& multiscale, OmeSource& source) {
  if (group.full_version != group.version)
    source.warnings.push_back(
        fmt::format("OME-Zarr {0} is read as {1}, and an OME-Zarr that is made of it says {1}",
                    printable(group.full_version.substr(0, kShownVersion)), group.version));
  std::string& label = source.image.label;
  if (label.empty() && is_in_labels(store, key)) label = "{}";
  if (!multiscale.others.empty())
    source.warnings.push_back(
        fmt::format("parts of OME-Zarr's metadata are left out: {}", join_names(multiscale.others)));
}

Extent extent_of(const ZarrArray& array) { return {array.shape.end()[-2], array.shape.back()}; }

OmeSource source_of(const ZarrStore& store, const std::string& key, const NgffGroup& group, int level) {
  const std::string name = store.name_of(key).native();
  if (group.images.size() > 1) {
    std::vector<std::string> paths;
    for (const NgffMultiscale& multiscale : group.images) paths.push_back(multiscale.levels.front().path);
    throw OmeChoice(fmt::format("{}: holds {} images; name one of their arrays: {}", name, paths.size(),
                                join_names(paths)));
  }
  const NgffMultiscale& multiscale = group.images.front();
  if (level >= std::ssize(multiscale.levels))
    throw IoError(fmt::format("{}: has no level {}; {}", name, level,
                              multiscale.levels.size() == 1
                                  ? "it has the full image only, which is level 0"
                                  : fmt::format("its levels are 0 to {}", multiscale.levels.size() - 1)));
  const auto chosen = static_cast<std::size_t>(level);
  OmeSource source{
      .key = joined_key(key, multiscale.levels[chosen].path),
      .array = level_array(store, joined_key(key, multiscale.levels[chosen].path), multiscale.image),
      .image = multiscale.at_level(chosen),
      .version = group.version,
      .attributes = group.others,
      .smaller_levels = {},
      .labels = {},
      .is_full_size = level == 0};
  for (std::size_t i = 1; i < multiscale.levels.size(); ++i)
    source.smaller_levels.push_back(
        extent_of(level_array(store, joined_key(key, multiscale.levels[i].path), multiscale.image)));
  find_labels(store, key, source);
  warn_about_siblings(store, key, level_paths(multiscale), source.warnings);
  add_metadata_warnings(store, key, group, multiscale, source);
  return source;
}

/// The first field of a well; empty if it has none.
std::string field_of(const ZarrStore& store, const std::string& well) {
  const auto node = read_zarr_node(store, well);
  if (!node || node->array) return {};
  const NgffGroup group = read_ngff(node->attributes, store.name_of(well).native());
  return group.fields.empty() ? std::string() : group.fields.front();
}

/// The only name in `names`. Throws OmeChoice, which lists them, if there are several.
std::string only_one(const ZarrStore& store, const std::string& key, std::string_view kind,
                     const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  const std::string name = store.name_of(key).native();
  if (names.empty())
    throw IoError(fmt::format("{}: is a group of {} and has none; name another", name, kind));
  std::filesystem::path example = store.name_of(key) / printable(names.front());
  if (const std::string field = field_of(store, joined_key(key, names.front())); !field.empty())
    example /= printable(field);
  throw OmeChoice(fmt::format("{}: holds {} {}; name one, like {}: {}", name, names.size(), kind,
                              example.native(), join_names(names)));
}

std::optional<OmeSource> find_in_group(const ZarrStore& store, const std::string& key, const ZarrNode& node,
                                       int level, int groups) {
  const NgffGroup group = read_ngff(node.attributes, store.name_of(key).native());
  if (group.version.empty()) return std::nullopt;
  if (!group.images.empty()) {
    OmeSource source = source_of(store, key, group, level);
    if (!node.quoted_numbers.empty()) source.warnings.push_back(quoted_numbers_warning(node.quoted_numbers));
    return source;
  }
  const std::string child_name =
      !group.wells.empty()    ? only_one(store, key, "wells of a plate", group.wells)
      : !group.fields.empty() ? only_one(store, key, "fields of a well", group.fields)
      : !group.labels.empty() ? only_one(store, key, "label images", group.labels)
                              : only_one(store, key, "images", images_in(store, key));
  const std::string child_key = joined_key(key, child_name);
  const auto child = read_zarr_node(store, child_key);
  auto found = child && !child->array && groups < kMaxGroups
                   ? find_in_group(store, child_key, *child, level, groups + 1)
                   : std::nullopt;
  if (!found)
    throw IoError(fmt::format("{}: its OME-Zarr metadata name {}, and there is no image; copy it again",
                              store.name_of(key).native(), printable(child_name)));
  if (!group.wells.empty())
    found->warnings.emplace_back("the plate that the image is a field of is left out");
  else if (group.fields.empty() && group.labels.empty())
    warn_about_siblings(store, key, {child_name}, found->warnings);
  return found;
}

/// The level of the group at `key` that is this array; null if there is none. Errors in the group are
/// ignored, as the array can be read without it.
std::optional<OmeSource> level_of(const ZarrStore& store, const std::string& key, const std::string& path,
                                  const ZarrArray& array) {
  NgffGroup group;
  try {
    const auto node = read_zarr_node(store, key);
    if (!node || node->array) return std::nullopt;
    group = read_ngff(node->attributes, store.name_of(key).native());
  } catch (const IoError&) {
    return std::nullopt;
  }
  for (const NgffMultiscale& multiscale : group.images) {
    const auto level = std::ranges::find(multiscale.levels, path, &NgffLevel::path);
    if (level == multiscale.levels.end() || multiscale.image.axes.size() != array.shape.size()) continue;
    OmeSource source{
        .key = {},
        .array = array,
        .image = multiscale.at_level(static_cast<std::size_t>(level - multiscale.levels.begin())),
        .version = group.version,
        .attributes = {},
        .smaller_levels = {},
        .labels = {}};
    source.array.names = axis_names(multiscale.image);
    add_metadata_warnings(store, key, group, multiscale, source);
    return source;
  }
  return std::nullopt;
}

}  // namespace

std::string quoted_numbers_warning(const std::string& quoted_numbers) {
  return fmt::format(
      "numbers of the attributes that JSON does not support, or of more than 64 bits, are written as "
      "strings: {}",
      quoted_numbers);
}

std::optional<OmeSource> find_ome(const ZarrStore& store, const std::string& key, const ZarrNode& group,
                                  int level) {
  return find_in_group(store, key, group, level, 0);
}

std::optional<OmeSource> find_ome_above(const ZarrStore& store, const std::string& key,
                                        const ZarrArray& array) {
  std::optional<OmeSource> source;
  any_group_above(store, key,
                  [&](const ZarrStore& in, const std::string& group, const std::string& relative_path) {
                    source = level_of(in, group, relative_path, array);
                    return source.has_value();
                  });
  if (source) source->key = key;
  return source;
}

bool is_picture(const OmeImage& image) {
  const OmeChannel picture[] = {{"red", 0xff0000}, {"green", 0x00ff00}, {"blue", 0x0000ff}, {"alpha"}};
  const std::vector<OmeChannel>& channels = image.channels;
  if (channels.size() != 3 && channels.size() != 4) return false;
  return std::ranges::equal(
      channels, std::span(picture).first(channels.size()),
      [](const auto& a, const auto& b) { return a.name == b.name && (!b.rgb || a.rgb == b.rgb); });
}

std::vector<std::pair<std::string, std::string>> ome_facts(const OmeSource& source) {
  std::vector<std::pair<std::string, std::string>> facts{{"OME-Zarr", source.version}};
  if (!source.image.name.empty()) facts.emplace_back("name", source.image.name);
  add_image_facts(facts, source.image);
  if (!source.labels.empty()) facts.emplace_back("labels", join_names(source.labels));
  return facts;
}

}  // namespace sepconv
