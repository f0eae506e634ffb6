#include "io/zarr/zarr_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/file_errors.hpp"
#include "io/safe_relative_path.hpp"
#include "io/zarr/source_snapshot.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// Opens one path component after another without following links, for kernels without openat2.
int open_step_by_step(int folder, std::string_view key) noexcept {
  int current = folder;
  while (true) {
    const std::size_t slash = key.find('/');
    const std::string name(key.substr(0, slash));
    const bool last = slash == key.npos;
    const int next = openat(current, name.c_str(), kFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    const int error = errno;
    if (current != folder) close(current);
    errno = error;
    if (last || next < 0) return next;
    current = next;
    key.remove_prefix(slash + 1);
  }
}

/// Opens the file or folder of this key. Follows links that stay inside `folder`. Returns a descriptor, or
/// -1.
int open_beneath(int folder, const std::string& key) noexcept {
  open_how request{};
  request.flags = static_cast<std::uint64_t>(kFlags);
  request.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto descriptor =
      static_cast<int>(syscall(SYS_openat2, folder, key.c_str(), &request, sizeof(request)));
  if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM)) return descriptor;
  return open_step_by_step(folder, key);
}

class FileObject final : public ZarrObject {
 public:
  FileObject(fs::path name, int descriptor, std::int64_t size)
      : name_(std::move(name)), descriptor_(descriptor), size_(size) {}
  FileObject(const FileObject&) = delete;
  FileObject& operator=(const FileObject&) = delete;
  ~FileObject() override { close(descriptor_); }

  std::int64_t size() const noexcept override { return size_; }
  void read_at(std::int64_t offset, std::span<std::byte> bytes) const override {
    const std::int64_t count = read_fully(descriptor_, offset, bytes);
    if (count < 0) throw_read_error(name_, errno);
    if (count < std::ssize(bytes))
      throw_read_error(name_, "it became shorter while it was read; read it when nobody writes it");
  }

 private:
  fs::path name_;
  int descriptor_;
  std::int64_t size_;
};

class FolderStore final : public ZarrStore {
 public:
  explicit FolderStore(InputFile folder) : folder_(std::move(folder)) {}

  const fs::path& path() const noexcept override { return folder_.path(); }
  std::int64_t changed_ns() const noexcept override { return folder_.changed_ns(); }

  std::unique_ptr<ZarrObject> open(const std::string& key) const override {
    if (!is_safe_relative_path(key))
      throw_read_error(path(), fmt::format("the name {} leads out of it; it is damaged", key));
    const int descriptor = open_beneath(folder_.descriptor(), key);
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) {
      opened_.add(key, nullptr);
      return nullptr;
    }
    if (descriptor < 0 && (errno == EXDEV || errno == ELOOP))
      throw_read_error(name_of(key),
                       "a link leads out of the folder that was named; put what it leads to in its place");
    if (descriptor < 0) throw_read_error(name_of(key), errno);
    struct stat status {};
    const bool known = fstat(descriptor, &status) == 0;
    auto object = std::make_unique<FileObject>(name_of(key), descriptor, status.st_size);
    if (known && S_ISREG(status.st_mode)) {
      opened_.add(key, &status);
      return object;
    }
    if (known && S_ISDIR(status.st_mode)) return nullptr;
    throw_read_error(name_of(key), "it is not a regular file; copy it again");
  }

  bool has_changed() const override {
    return opened_.any_has_changed([this](const std::string& key, struct stat& now) {
      const int descriptor = open_beneath(folder_.descriptor(), key);
      const bool exists = descriptor >= 0 && fstat(descriptor, &now) == 0 && S_ISREG(now.st_mode);
      if (descriptor >= 0) close(descriptor);
      return exists ? &now : nullptr;
    });
  }

  std::vector<std::string> folders(const std::string& key, std::size_t max_names) const override {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator entry(name_of(key), failed), end;
         !failed && entry != end && names.size() < max_names; entry.increment(failed)) {
      std::error_code unknown;
      if (entry->is_directory(unknown)) names.push_back(entry->path().filename().native());
    }
    std::ranges::sort(names);
    return names;
  }

  void for_each_object(const std::string& key, std::size_t depth,
                       const std::function<bool(std::string_view)>& visit) const override {
    const fs::path folder = name_of(key);
    const std::size_t prefix = folder.native().size() + 1;
    std::error_code failed;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink, failed),
        end;
    for (; !failed && entry != end; entry.increment(failed)) {
      std::error_code unknown;
      if (!entry->is_directory(unknown)) {
        if (!visit(std::string_view(entry->path().native()).substr(prefix))) return;
      } else if (entry.depth() >= static_cast<int>(depth)) {
        entry.disable_recursion_pending();
      }
    }
  }

 private:
  InputFile folder_;
  mutable OpenedFiles opened_;
};

}  // namespace

std::unique_ptr<ZarrStore> open_folder_store(InputFile folder) {
  return std::make_unique<FolderStore>(std::move(folder));
}

std::optional<std::string> ZarrStore::text(const std::string& key, std::int64_t max_bytes) const {
  const auto object = open(key);
  if (!object) return std::nullopt;
  if (object->size() > max_bytes)
    throw_read_error(name_of(key),
                     fmt::format("it has {} bytes, more than the {} that are read; where it is a "
                                 "group's, name an array or an image in it",
                                 object->size(), max_bytes));
  std::string text(static_cast<std::size_t>(object->size()), '\0');
  object->read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string joined_key(const std::string& parent, const std::string& name) {
  return parent.empty() || name.empty() ? parent + name : parent + "/" + name;
}

}  // namespace sepconv
