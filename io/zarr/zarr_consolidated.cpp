#include "io/zarr/zarr_consolidated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "io/file_errors.hpp"
#include "io/zarr/ome_ancestors.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

using Visit = std::function<void(const std::string& key)>;

/// Visits the nodes below a group, each group before its members. Folders of arrays are not searched.
void for_each_below(const ZarrStore& store, const std::string& key, const Visit& visit) {
  constexpr std::size_t kMaxNodes = 100'000;
  for (const std::string& name : store.folders(key, kMaxNodes)) {
    const std::string below = joined_key(key, name);
    const auto node = read_zarr_node(store, below);
    if (!node) continue;
    visit(below);
    if (!node->array) for_each_below(store, below, visit);
  }
}

/// "KEY": TEXT. The text is JSON and is copied unchanged, including NaN and Infinity.
std::string member(const std::string& key, const std::string& text) {
  return fmt::format("{}: {}", Json(key).dump(), text);
}

MetadataFiles consolidate2(const ZarrStore& store, MetadataFiles texts) {
  std::vector<std::string> members;
  for (const auto& [name, text] : texts) members.push_back(member(name, text));
  for_each_below(store, "", [&](const std::string& key) {
    for (const char* const name : {".zgroup", ".zarray", ".zattrs"})
      if (const auto text = store.text(joined_key(key, name), kMaxZarrJson))
        members.push_back(member(joined_key(key, name), *text));
  });
  texts.emplace_back(".zmetadata", fmt::format("{{\"zarr_consolidated_format\": 1, \"metadata\": {{{}}}}}",
                                               fmt::join(members, ",\n")));
  return texts;
}

MetadataFiles consolidate3(const ZarrStore& store, MetadataFiles texts) {
  std::vector<std::string> members;
  for_each_below(store, "", [&](const std::string& key) {
    if (const auto text = store.text(joined_key(key, "zarr.json"), kMaxZarrJson))
      members.push_back(member(key, *text));
  });
  std::string& root = texts.front().second;
  root.erase(root.rfind('}'));
  root += fmt::format(
      ",\n\"consolidated_metadata\": {{\"kind\": \"inline\", \"must_understand\": false, \"metadata\": "
      "{{{}}}}}}}",
      fmt::join(members, ",\n"));
  return texts;
}

bool has_consolidated_metadata(const ZarrStore& store, const std::string& key) {
  const auto node = read_zarr_node(store, key);
  return node && node->is_consolidated;
}

}  // namespace

bool is_consolidated(const ZarrStore& store, const std::string& key, const std::string& below) {
  std::string group = below;
  while (group.size() > key.size()) {
    group = fs::path(group).parent_path().native();
    if (has_consolidated_metadata(store, group)) return true;
  }
  return false;
}

MetadataFiles consolidated_files(const ZarrStore& store, int version, const MetadataFiles& group) {
  return version == 2 ? consolidate2(store, group) : consolidate3(store, group);
}

std::string stale_consolidation_warning(const fs::path& target) {
  const fs::path name = fs::absolute(target).lexically_normal();
  std::string warning;
  const auto visit = [&](const ZarrStore& store, const std::string& key, const std::string& relative_path) {
    if (!has_consolidated_metadata(store, key)) return false;
    warning = fmt::format(
        "the metadata of {} are consolidated, and readers that use them see no {}, or what it was before, "
        "until zarr.consolidate_metadata is called again",
        store.name_of(key).native(), relative_path);
    return true;
  };
  any_group_above(*open_folder_store(InputFile(name.parent_path(), InputFile::Folders::taken)),
                  name.filename().native(), visit);
  return warning;
}

}  // namespace sepconv
