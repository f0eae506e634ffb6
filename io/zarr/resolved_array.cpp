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

/// The array of an OME-Zarr image.
ResolvedArray resolve_ome(OmeSource source) {
  ResolvedArray result{source.key, std::move(source.array)};
  result.warnings = std::move(source.warnings);
  result.ome = std::move(source);
  return result;
}

/// Whether a node is a group without OME-Zarr metadata, which is searched for arrays. False for nodes that
/// cannot be read; they throw when they are chosen.
bool is_plain_group(const ZarrStore& store, const std::string& key) {
  try {
    const auto node = read_zarr_node(store, key);
    return !node ||
           (!node->array && read_ngff(node->attributes, store.name_of(key).native()).version.empty());
  } catch (const IoError&) {
    return false;
  }
}

constexpr int kMaxDepth = 8;  // below the given group

/// Adds keys of arrays and OME-Zarr groups below a plain group, up to the number that a message lists.
void add_keys_below(const ZarrStore& store, const std::string& key, int depth,
                    std::vector<std::string>& keys) {
  constexpr std::size_t kMaxNames = 1000, kMaxKeys = 12;
  if (depth == kMaxDepth) return;
  for (const std::string& name : store.folders(key, kMaxNames)) {
    if (keys.size() == kMaxKeys) return;
    const std::string child = joined_key(key, name);
    if (is_plain_group(store, child))
      add_keys_below(store, child, depth + 1, keys);
    else
      keys.push_back(child);
  }
}

/// The only array or image below a plain group.
std::string only_key_below(const ZarrStore& store, const std::string& key) {
  std::vector<std::string> keys;
  add_keys_below(store, key, 0, keys);
  if (keys.empty())
    throw_read_error(store.name_of(key),
                     fmt::format("it is a Zarr group without arrays, up to {} groups below it; name another, "
                                 "or an array in it",
                                 kMaxDepth));
  if (keys.size() > 1)
    throw_read_error(store.name_of(key),
                     fmt::format("it is a Zarr group of several arrays or images; name one of them: {}",
                                 join_names(keys)));
  return keys.front();
}

/// Warns about attributes of the groups from the one at `key` down to the array or image at `found_key`.
void warn_about_groups(const ZarrStore& store, const std::string& key, const std::string& found_key,
                       std::vector<std::string>& warnings) {
  std::vector<std::string> names;
  std::string group = found_key;
  do {
    group = std::filesystem::path(group).parent_path().native();
    if (const auto node = read_zarr_node(store, group))
      for (std::string& name : member_names(node->attributes)) names.push_back(std::move(name));
  } while (group.size() > key.size());
  if (!names.empty())
    warnings.push_back(fmt::format("attributes of the group are left out: {}", join_names(std::move(names))));
}

ResolvedArray resolve(const ZarrStore& store, const std::string& key, int level) {
  auto node = read_zarr_node(store, key);
  if (!node) throw_read_error(store.name_of(key), "it holds no Zarr array or group; name the folder of one");
  auto ome = node->array ? find_ome_above(store, key, *node->array) : find_ome(store, key, *node, level);
  if (ome && !(node->array && level > 0)) return resolve_ome(*std::move(ome));
  if (!node->array) {
    const std::string below = only_key_below(store, key);
    ResolvedArray found = resolve(store, below, level);
    warn_about_groups(store, key, below, found.warnings);
    return found;
  }
  if (level > 0)
    throw IoError(fmt::format("{}: has no level {}; it is an array, and groups of OME-Zarr have levels",
                              store.name_of(key).native(), level));
  return {key, *std::move(node->array)};
}

}  // namespace

ResolvedArray find_array(const ZarrStore& store, const std::string& key, int level) {
  ResolvedArray found = resolve(store, key, level);
  found.is_consolidated = is_consolidated(store, key, found.key);
  if (!found.ome && found.key == key) warn_about_surroundings(store, key, found.warnings);
  return found;
}

}  // namespace sepconv
