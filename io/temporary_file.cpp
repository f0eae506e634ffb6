#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "core/byte_text.hpp"
#include "io/file_errors.hpp"
#include "io/unfinished_paths.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kSuffixLetters = 6;
/// Extended attribute that marks an incomplete file of this program.
constexpr const char* kMark = "user.sepconv.unfinished";

/// Prefix of a temporary file's name.
std::string prefix_of(const fs::path& target) {
  constexpr std::size_t longest_name = 200;  // less than NAME_MAX 255, so that the suffix fits
  return "." + target.filename().native().substr(0, longest_name) + ".sepconv-";
}

/// Whether a name still refers to an open file.
bool refers_to(const fs::path& name, const struct stat& file) {
  struct stat current {};
  return lstat(name.c_str(), &current) == 0 && current.st_dev == file.st_dev && current.st_ino == file.st_ino;
}

/// Closes a descriptor, and releases its lock, in the destructor.
struct ScopedDescriptor {
  explicit ScopedDescriptor(int opened) noexcept : descriptor(opened) {}
  ScopedDescriptor(const ScopedDescriptor&) = delete;
  ScopedDescriptor& operator=(const ScopedDescriptor&) = delete;
  ~ScopedDescriptor() {
    if (descriptor >= 0) close(descriptor);
  }
  int descriptor;
};

/// Locks the file and calls `action(status, is_marked)` if no process holds the lock and the name still
/// refers to the file. `is_marked`: it is an incomplete file of this program.
template <class Action>
void visit_if_unlocked(const fs::path& name, const Action& action) {
  struct stat status {};
  // Checked before opening, because opening may have side effects on anything but a file.
  if (lstat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return;
  int opened = open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) opened = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const ScopedDescriptor file(opened);
  if (file.descriptor < 0 || flock(file.descriptor, LOCK_EX | LOCK_NB) != 0) return;
  if (fstat(file.descriptor, &status) == 0 && S_ISREG(status.st_mode) && refers_to(name, status))
    action(status, status.st_nlink == 1 && fgetxattr(file.descriptor, kMark, nullptr, 0) >= 0);
}

}  // namespace

bool is_temporary_name(const std::string& name, const fs::path& target) {
  const std::string prefix = prefix_of(target);
  return name.size() == prefix.size() + kSuffixLetters && name.starts_with(prefix) &&
         name.find_first_not_of(kLetters, prefix.size()) == std::string::npos;
}

fs::path temporary_name(const fs::path& target) {
  std::random_device random;
  std::string name = prefix_of(target);
  for (std::size_t i = 0; i < kSuffixLetters; ++i) name += kLetters[random() % kLetters.size()];
  return folder_of(target) / name;
}

bool locks_are_reliable(const fs::path& folder) {
  constexpr long kXfs = 0x58465342, kZfs = 0x2FC12FC1, kBcachefs = 0xCA451A4E;
  struct statfs system {};
  if (statfs(folder.c_str(), &system) != 0) return false;
  const auto type = static_cast<long>(system.f_type);
  constexpr long local[] = {EXT4_SUPER_MAGIC, kXfs, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
                            F2FS_SUPER_MAGIC, kZfs, kBcachefs};
  return std::find(std::begin(local), std::end(local), type) != std::end(local);
}

TemporaryFile make_temporary_file(const fs::path& target, mode_t mode) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    TemporaryFile file{temporary_name(target)};
    const auto guard = unfinished_paths::turn();
    // Not mkstemp: open() applies the umask, as for any other file.
    file.descriptor = open(file.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file.descriptor < 0) {
      if (errno == EEXIST) continue;
      file.error = errno;
      return file;
    }
    // Between open and flock another run may have treated the file as a leftover, and locked or removed it.
    // On file systems without locks or marks the file stays without them.
    struct stat status {};
    const bool is_locked_by_other = flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_locked_by_other && fstat(file.descriptor, &status) == 0 && refers_to(file.name, status)) {
      fsetxattr(file.descriptor, kMark, "", 0, 0);
      unfinished_paths::add(file.name);
      return file;
    }
    if (is_locked_by_other) unlink(file.name.c_str());
    close(file.descriptor);
  }
  return {{}, -1, EEXIST};
}

void mark_complete(int descriptor) noexcept { fremovexattr(descriptor, kMark); }

int inherit_permissions(int descriptor, mode_t mode, gid_t group) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return errno;
  mode &= S_IRWXU | S_IRWXG | S_IRWXO;  // not setuid and setgid, which are not meant for the new content
  if (status.st_gid != group && fchown(descriptor, static_cast<uid_t>(-1), group) != 0) {
    // The group cannot be set, so that its members and other users get only the permissions that both had.
    const mode_t common = mode >> 3 & mode & S_IRWXO;
    mode = (mode & S_IRWXU) | common << 3 | common;
  }
  // Only the owner may change permissions, but equal ones need no change.
  if ((status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) == mode) return 0;
  return fchmod(descriptor, mode) == 0 ? 0 : errno;
}

namespace {

/// "X (3 MiB)" or "2 files like X (3 MiB)", for existing files.
std::string list_text(const std::vector<fs::path>& names, std::int64_t bytes) {
  const std::string first =
      fmt::format("{} ({})", names.front().native(), format_bytes(static_cast<double>(bytes)));
  return names.size() == 1 ? first : fmt::format("{} files like {}", names.size(), first);
}

}  // namespace

void Leftovers::add_warnings(const fs::path& target, std::vector<std::string>& warnings) const {
  if (!names.empty()) {
    const bool is_single = names.size() == 1;
    warnings.push_back(fmt::format("{} left {}; {} will be removed when {} is written",
                                   is_single ? "a killed run" : "killed runs", list_text(names, bytes),
                                   is_single ? "it" : "they", target.native()));
  }
  if (!unmarked.empty()) {
    const bool is_single = unmarked.size() == 1;
    warnings.push_back(fmt::format(
        "{0} {1} named like what a killed run leaves, but {1} not marked as such; remove {2} if "
        "nobody needs {2}",
        list_text(unmarked, unmarked_bytes), is_single ? "is" : "are", is_single ? "it" : "them"));
  }
}

Leftovers find_leftovers(const fs::path& target) {
  Leftovers found;
  const fs::path folder = folder_of(target);
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (!is_temporary_name(entry->path().filename().native(), target) || !locks_are_reliable(folder))
      continue;
    visit_if_unlocked(entry->path(), [&](const struct stat& status, bool is_marked) {
      (is_marked ? found.names : found.unmarked).push_back(entry->path());
      (is_marked ? found.bytes : found.unmarked_bytes) += status.st_size;
      if (is_marked) found.stored_bytes += status.st_blocks * 512;
    });
  }
  std::sort(found.names.begin(), found.names.end());
  std::sort(found.unmarked.begin(), found.unmarked.end());
  return found;
}

void remove_leftovers(const Leftovers& leftovers) noexcept {
  for (const fs::path& name : leftovers.names) {
    visit_if_unlocked(name, [&](const struct stat&, bool is_marked) {
      if (is_marked) unlink(name.c_str());
    });
  }
}

}  // namespace sepconv
