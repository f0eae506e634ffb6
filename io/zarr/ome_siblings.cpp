#include "io/zarr/ome_siblings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/join_names.hpp"
#include "io/zarr/ome_ancestors.hpp"

namespace sepconv {
namespace {

/// Members of a group that are neither on these paths nor hidden.
std::vector<std::string> other_members(const ZarrStore& store, const std::string& key,
                                       const std::vector<std::string>& paths) {
  constexpr std::size_t kMaxNames = 1000;
  std::vector<std::string> others = store.folders(key, kMaxNames);
  std::erase_if(others,
                [&](const std::string& name) { return name.starts_with('.') || is_on_path(name, paths); });
  return others;
}

}  // namespace

void find_labels(const ZarrStore& store, const std::string& key, OmeSource& source) {
  source.labels_key = joined_key(key, "labels");
  const auto node = read_zarr_node(store, source.labels_key);
  if (!node || node->array) return;
  std::vector<std::string> missing;
  for (std::string& name : read_ngff(node->attributes, store.name_of(source.labels_key).native()).labels)
    (read_zarr_node(store, joined_key(source.labels_key, name)) ? source.labels : missing)
        .push_back(std::move(name));
  if (!missing.empty())
    source.warnings.push_back(fmt::format("{} lists label images that do not exist: {}",
                                          store.name_of(source.labels_key).native(), join_names(missing)));
  if (!source.labels.empty())
    source.labels_warning = fmt::format(
        "label images are left out ({}): they are images of their own, {} is one", join_names(source.labels),
        store.name_of(joined_key(source.labels_key, printable(source.labels.front()))).native());
}

std::vector<std::string> level_paths(const NgffMultiscale& image) {
  std::vector<std::string> paths;
  for (const NgffLevel& level : image.levels) paths.push_back(level.path);
  return paths;
}

bool is_on_path(const std::string& member, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths,
                             [&](const std::string& path) { return (path + "/").starts_with(member + "/"); });
}

void warn_about_siblings(const ZarrStore& store, const std::string& key,
                         const std::vector<std::string>& paths, std::vector<std::string>& warnings) {
  std::vector<std::string> others = other_members(store, key, paths);
  std::erase(others, "labels");
  if (!others.empty())
    warnings.push_back(
        fmt::format("other members of the image's group are left out: {}", join_names(others)));
}

void warn_about_surroundings(const ZarrStore& store, const std::string& key,
                             std::vector<std::string>& warnings) {
  any_group_above(
      store, key, [&](const ZarrStore& in, const std::string& group, const std::string& relative_path) {
        try {
          const auto node = read_zarr_node(in, group);
          if (!node || node->array) return true;
          if (auto names = member_names(node->attributes); !names.empty())
            warnings.push_back(fmt::format("attributes of the group are left out: {}", join_names(names)));
          if (auto others = other_members(in, group, {relative_path}); !others.empty())
            warnings.push_back(
                fmt::format("other members of the array's group are left out: {}", join_names(others)));
        } catch (const IoError&) {  // an array can be read even if its group is damaged
        }
        return true;
      });
}

}  // namespace sepconv
