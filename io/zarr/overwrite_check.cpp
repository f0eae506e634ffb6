#include "io/zarr/overwrite_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.hpp"
#include "io/file_errors.hpp"
#include "io/zarr/ome_siblings.hpp"
#include "io/zarr/staging_directory.hpp"
#include "io/zarr/zarr_json.hpp"

namespace fs = std::filesystem;

namespace sepconv {

bool is_zarr(const fs::path& folder) {
  try {
    const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
    for (const char* const name : {"zarr.json", ".zarray", ".zgroup"}) {
      const auto text = store->text(name, kMaxZarrJson);
      if (text) return JsonFile(folder / name).parse(*text).contains("zarr_format");
    }
  } catch (const IoError&) {
  }
  return false;
}

namespace {

bool is_array(const fs::path& folder) {
  if (!has_zarr_metadata(folder)) return false;
  try {
    const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
    if (const auto text = store->text("zarr.json", kMaxZarrJson))
      return JsonFile(folder / "zarr.json")
                 .parse(*text, "consolidated_metadata")
                 .value("node_type", Json()) == "array";
    return store->open(".zarray") != nullptr;
  } catch (const IoError&) {
    return false;
  }
}

/// The node that the folder's metadata describe; an empty group if they cannot be read.
struct FolderContents {
  ZarrNode node;
  std::vector<std::string> levels;  ///< paths
};
FolderContents read_contents(const fs::path& folder) {
  FolderContents contents;
  try {
    const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
    contents.node = read_zarr_node(*store, "").value_or(ZarrNode());
    if (contents.node.array) return contents;
    const NgffGroup group = read_ngff(contents.node.attributes, folder.native());
    if (group.images.size() == 1) contents.levels = level_paths(group.images.front());
  } catch (const IoError&) {
  }
  return contents;
}

/// Whether a name can begin the key of a chunk: "c/0/1" or "c.0.1", or "0/1" or "0.1".
bool is_chunk(const ZarrArray& array, std::string_view name) {
  if (!array.v2_chunk_keys && !name.starts_with('c')) return false;
  return name.find_first_not_of("0123456789.", array.v2_chunk_keys ? 0 : 1) == name.npos;
}

}  // namespace

void check_not_in_array(const fs::path& target) {
  std::error_code failed;
  fs::path folder = fs::weakly_canonical(fs::absolute(target, failed).parent_path(), failed);
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (is_array(folder))
      throw_write_error(
          target, fmt::format("cannot write inside the Zarr array {}; choose another path", folder.native()));
}

std::vector<std::string> unrelated_entries(const fs::path& folder) {
  constexpr std::string_view kMetadata[] = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"};
  const FolderContents contents = read_contents(folder);
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().native();
    const bool belongs =
        contents.node.array ? is_chunk(*contents.node.array, name) : is_on_path(name, contents.levels);
    if (!belongs && std::ranges::find(kMetadata, name) == std::end(kMetadata)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace sepconv
