#include "sepconv/io/zarr/ome_beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sepconv/core/printable.hpp"
#include "sepconv/io/zarr/first_names.hpp"

namespace sepconv {

void take_labels(const ZarrStore& store, const std::string& key, OmeSource& source) {
  source.labels_key = joined_key(key, "labels");
  const auto node = read_zarr_node(store, source.labels_key);
  if (!node || node->array) return;
  std::vector<std::string> missing;
  for (std::string& name : read_ngff(node->attributes, store.name_of(source.labels_key).native()).labels)
    (read_zarr_node(store, joined_key(source.labels_key, name)) ? source.labels : missing)
        .push_back(std::move(name));
  if (!missing.empty())
    source.left_out.push_back(fmt::format("{} lists label images that are not there: {}",
                                          store.name_of(source.labels_key).native(), first_names(missing)));
  if (!source.labels.empty())
    source.labels_left_out = fmt::format(
        "label images are left out ({}): they are images of their own, {} is one", first_names(source.labels),
        store.name_of(joined_key(source.labels_key, printable(source.labels.front()))).native());
}

std::vector<std::string> paths_of(const NgffMultiscale& image) {
  std::vector<std::string> paths;
  for (const NgffLevel& level : image.levels) paths.push_back(level.path);
  return paths;
}

bool is_on_path(const std::string& member, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths,
                             [&](const std::string& path) { return (path + "/").starts_with(member + "/"); });
}

void say_what_lies_beside(const ZarrStore& store, const std::string& key,
                          const std::vector<std::string>& paths, std::vector<std::string>& said) {
  constexpr std::size_t kMostNames = 1000;
  std::vector<std::string> others = store.folders(key, kMostNames);
  std::erase_if(others, [&](const std::string& name) {
    return name == "labels" || name.starts_with('.') || is_on_path(name, paths);
  });
  if (!others.empty())
    said.push_back(
        fmt::format("what lies beside the image in its group is left out: {}", first_names(others)));
}

}  // namespace sepconv
