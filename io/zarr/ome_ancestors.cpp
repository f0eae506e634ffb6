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

constexpr int kMaxAbove = 2;  // an array "0" or "s/0" of an image

/// The folders above one, and what it is called below them.
using Above = std::vector<std::pair<fs::path, std::string>>;
Above above(fs::path path) {
  Above all;
  std::string inside;
  for (int groups = 0; groups < kMaxAbove && path.has_filename(); ++groups) {
    inside = path.filename().native() + (inside.empty() ? "" : "/") + inside;
    path = path.parent_path();
    all.emplace_back(path, inside);
  }
  return all;
}

std::vector<fs::path> names_of(const fs::path& folder) {
  std::vector<fs::path> names{without_slash(fs::absolute(folder).lexically_normal())};
  std::error_code failed;
  const fs::path real = fs::canonical(folder, failed);
  if (!failed && real != names.front()) names.push_back(real);
  return names;
}

}  // namespace

bool any_group_above(const ZarrStore& store, const std::string& key,
                     const std::function<bool(const ZarrStore& store, const std::string& key,
                                              const std::string& inside)>& look) {
  std::error_code unknown;
  if (!fs::is_directory(store.path(), unknown))
    return std::ranges::any_of(above(key),
                               [&](const auto& at) { return look(store, at.first.native(), at.second); });
  const auto look_into = [&](const auto& at) {
    try {
      return look(*open_folder_store(InputFile(at.first, InputFile::Folders::taken)), "", at.second);
    } catch (const IoError&) {
      return false;  // what is wrong with them is no matter
    }
  };
  return std::ranges::any_of(names_of(store.name_of(key)), [&](const fs::path& name) {
    return std::ranges::any_of(above(name), look_into);
  });
}

bool is_in_labels(const ZarrStore& store, const std::string& key) {
  return any_group_above(store, key,
                         [](const ZarrStore& in, const std::string& group, const std::string& inside) {
                           const auto node = read_zarr_node(in, group);
                           if (!node || node->array) return false;
                           if (inside.find('/') == inside.npos && in.name_of(group).filename() == "labels")
                             return true;
                           const auto labels = read_ngff(node->attributes, in.name_of(group).native()).labels;
                           return std::ranges::find(labels, inside) != labels.end();
                         });
}

}  // namespace sepconv
