#include "sepconv/io/zarr/label_images.hpp"

#include <algorithm>

#include "sepconv/core/memory.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/zarr/zarr_store.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kCopiedAtOnce = 1 << 20;

void copy_object(const ZarrObject& from, UnfinishedFolder& to, const std::string& name,
                 const Buffer& buffer) {
  for (std::int64_t at = 0; at == 0 || at < from.size(); at += kCopiedAtOnce) {
    const auto part =
        buffer.bytes().first(static_cast<std::size_t>(std::min(kCopiedAtOnce, from.size() - at)));
    from.read_at(at, part);
    to.write_part(name, at == 0, at, part);
  }
  to.complete_part(name);
}

}  // namespace

void copy_label_images(const std::filesystem::path& folder, UnfinishedFolder& to, const std::string& key) {
  const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
  const Buffer buffer(kCopiedAtOnce);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const std::string name = entry.path().lexically_relative(folder).native();
    const auto object = store->open(name);
    if (!object)
      throw_read_error(entry.path(), "it is no file, and label images go along as files; take it away");
    copy_object(*object, to, joined_key(key, name), buffer);
  }
}

}  // namespace sepconv
