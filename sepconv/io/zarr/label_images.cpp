#include "sepconv/io/zarr/label_images.hpp"

#include <algorithm>

#include "sepconv/core/memory.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/zarr/zarr_store.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCopiedAtOnce = 1 << 20;

/// What is no label image: a result that lies among them, or another one that is not complete. One that is
/// made in several runs has an unfinished one in it, and its own name.
bool is_in_the_making(const fs::path& folder, const fs::path& target) {
  std::error_code ignored;
  const auto is_unfinished = [&](const fs::path& each) {
    return fs::exists(each / kUnfinishedMark, ignored);
  };
  return is_unfinished(folder) || is_unfinished(folder / "result") || fs::equivalent(folder, target, ignored);
}

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

void copy_label_images(const fs::path& folder, UnfinishedFolder& to, const std::string& key) {
  const auto store = open_folder_store(InputFile(folder, InputFile::Folders::taken));
  const Buffer buffer(kCopiedAtOnce);
  for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
    const fs::directory_entry& entry = *at;
    if (entry.is_directory() && !entry.is_symlink()) {
      if (is_in_the_making(entry.path(), to.target())) at.disable_recursion_pending();
      continue;
    }
    const std::string name = entry.path().lexically_relative(folder).native();
    const auto object = store->open(name);
    if (!object)
      throw_read_error(entry.path(), "it is no file, and label images go along as files; take it away");
    copy_object(*object, to, joined_key(key, name), buffer);
  }
}

}  // namespace sepconv
