#include "io/zarr/resolved_array.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "io/file_errors.hpp"
#include "io/join_names.hpp"
#include "io/zarr/ome_siblings.hpp"
#include "io/zarr/zarr_consolidated.hpp"

namespace sepconv {
namespace {

/// The array of an image, as its group describes it.
ResolvedArray found_as(OmeSource source) {
  ResolvedArray found{source.key, std::move(source.array)};
  found.left_out = std::move(source.left_out);
  found.ome = std::move(source);
  return found;
}

/// Whether a group is one to look into: neither an array, nor a group that OME-Zarr's metadata speak of. What
/// cannot be read is none, and says why when it is chosen.
bool is_plain_group(const ZarrStore& store, const std::string& key) {
  try {
    const auto node = read_zarr_node(store, key);
    return !node ||
           (!node->array && read_ngff(node->attributes, store.name_of(key).native()).version.empty());
  } catch (const IoError&) {
    return false;
  }
}

constexpr int kMaxGroup = 8;  // below the one that is named

/// Keys of arrays and of groups of OME-Zarr below a plain group, as many as are worth being named.
void add_below(const ZarrStore& store, const std::string& key, int depth, std::vector<std::string>& keys) {
  constexpr std::size_t kMaxNames = 1000, kMaxKeys = 12;
  if (depth == kMaxGroup) return;
  for (const std::string& name : store.folders(key, kMaxNames)) {
    if (keys.size() == kMaxKeys) return;
    const std::string below = joined_key(key, name);
    if (is_plain_group(store, below))
      add_below(store, below, depth + 1, keys);
    else
      keys.push_back(below);
  }
}

/// The only array or image below a plain group.
std::string only_below(const ZarrStore& store, const std::string& key) {
  std::vector<std::string> keys;
  add_below(store, key, 0, keys);
  if (keys.empty())
    throw_read_error(store.name_of(key),
                     fmt::format("it is a Zarr group without arrays, up to {} groups below it; name another, "
                                 "or an array in it",
                                 kMaxGroup));
  if (keys.size() > 1)
    throw_read_error(store.name_of(key),
                     fmt::format("it is a Zarr group of several arrays or images; name one of them: {}",
                                 join_names(keys)));
  return keys.front();
}

/// Says what the groups around an array or image have, from the one at `key` on.
void warn_about_groups(const ZarrStore& store, const std::string& key, const std::string& found,
                       std::vector<std::string>& left_out) {
  std::vector<std::string> names;
  std::string group = found;
  do {
    group = std::filesystem::path(group).parent_path().native();
    if (const auto node = read_zarr_node(store, group))
      for (std::string& name : member_names(node->attributes)) names.push_back(std::move(name));
  } while (group.size() > key.size());
  if (!names.empty())
    left_out.push_back(fmt::format("attributes of the group are left out: {}", join_names(std::move(names))));
}

ResolvedArray find_from(const ZarrStore& store, const std::string& key, int level) {
  auto node = read_zarr_node(store, key);
  if (!node) throw_read_error(store.name_of(key), "it holds no Zarr array or group; name the folder of one");
  auto ome = node->array ? find_ome_above(store, key, *node->array) : find_ome(store, key, *node, level);
  if (ome && !(node->array && level > 0)) return found_as(*std::move(ome));
  if (!node->array) {
    const std::string below = only_below(store, key);
    ResolvedArray found = find_from(store, below, level);
    warn_about_groups(store, key, below, found.left_out);
    return found;
  }
  if (level > 0)
    throw IoError(fmt::format("{}: has no level {}; it is an array, and groups of OME-Zarr have levels",
                              store.name_of(key).native(), level));
  return {key, *std::move(node->array)};
}

}  // namespace

ResolvedArray find_array(const ZarrStore& store, const std::string& key, int level) {
  ResolvedArray found = find_from(store, key, level);
  found.is_consolidated = is_consolidated(store, key, found.key);
  if (!found.ome && found.key == key) warn_about_surroundings(store, key, found.left_out);
  return found;
}

}  // namespace sepconv
