#include "io/zarr/ome_ancestors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/file_errors.hpp"
#include "io/stack/ngff.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxAncestors = 2;  // for an array "0" or "s/0" of an image

/// The folders above a path, and the path relative to each.
using Ancestors = std::vector<std::pair<fs::path, std::string>>;
Ancestors ancestors_of(fs::path path) {
  Ancestors ancestors;
  std::string relative_path;
  for (int groups = 0; groups < kMaxAncestors && path.has_filename(); ++groups) {
    relative_path = path.filename().native() + (relative_path.empty() ? "" : "/") + relative_path;
    path = path.parent_path();
    ancestors.emplace_back(path, relative_path);
  }
  return ancestors;
}

std::vector<fs::path> path_variants(const fs::path& folder) {
  std::vector<fs::path> names{without_slash(fs::absolute(folder).lexically_normal())};
  std::error_code failed;
  const fs::path real = fs::canonical(folder, failed);
  if (!failed && real != names.front()) names.push_back(real);
  return names;
}

}  // namespace

bool any_group_above(const ZarrStore& store, const std::string& key,
                     const std::function<bool(const ZarrStore& store, const std::string& key,
                                              const std::string& relative_path)>& visit) {
  std::error_code unknown;
  if (!fs::is_directory(store.path(), unknown))
    return std::ranges::any_of(ancestors_of(key),
                               [&](const auto& at) { return visit(store, at.first.native(), at.second); });
  const auto visit_folder = [&](const auto& at) {
    try {
      return visit(*open_folder_store(InputFile(at.first, InputFile::Folders::taken)), "", at.second);
    } catch (const IoError&) {
      return false;  // damaged ancestors are ignored
    }
  };
  return std::ranges::any_of(path_variants(store.name_of(key)), [&](const fs::path& name) {
    return std::ranges::any_of(ancestors_of(name), visit_folder);
  });
}

bool is_in_labels(const ZarrStore& store, const std::string& key) {
  return any_group_above(
      store, key, [](const ZarrStore& in, const std::string& group, const std::string& relative_path) {
        const auto node = read_zarr_node(in, group);
        if (!node || node->array) return false;
        if (relative_path.find('/') == relative_path.npos && in.name_of(group).filename() == "labels")
          return true;
        const auto labels = read_ngff(node->attributes, in.name_of(group).native()).labels;
        return std::ranges::find(labels, relative_path) != labels.end();
      });
}

}  // namespace sepconv
