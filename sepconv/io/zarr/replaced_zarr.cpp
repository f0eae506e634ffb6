#include "sepconv/io/zarr/replaced_zarr.hpp"

#include <algorithm>
#include <string_view>

#include "sepconv/core/error.hpp"
#include "sepconv/io/zarr/zarr_array.hpp"
#include "sepconv/io/zarr/zarr_json.hpp"
#include "sepconv/io/zarr/zarr_store.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

}  // namespace

bool is_zarr(const fs::path& folder) {
  try {
    const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
    for (const char* const name : {"zarr.json", ".zarray", ".zgroup"}) {
      const auto text = store->text(name, kMostZarrJson);
      if (text) return JsonFile(folder / name).parse(*text).contains("zarr_format");
    }
  } catch (const IoError&) {
  }
  return false;
}

std::vector<std::string> others_in(const fs::path& folder) {
  const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
  std::string said;  // of the group
  for (const char* const name : {"zarr.json", ".zgroup", ".zattrs"})
    said += store->text(name, kMostZarrJson).value_or("");
  const bool is_array = fs::exists(folder / ".zarray") || said.find("\"chunk_grid\"") != said.npos;
  const bool has_own = is_array || said.find("\"multiscales\"") != said.npos;
  constexpr std::string_view kMetadata[] = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"};
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().native();
    const bool is_own =
        has_own && name.find_first_not_of("0123456789.", name.starts_with('c') ? 1 : 0) == name.npos;
    if (!is_own && std::ranges::find(kMetadata, name) == std::end(kMetadata)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace sepconv
