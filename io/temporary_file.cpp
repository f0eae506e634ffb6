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
/// What tells a file that we have not completed from one of the same name that is somebody's: an extended
/// attribute of it.
constexpr const char* kMark = "user.sepconv.unfinished";

/// What a temporary file's name begins with.
std::string prefix_of(const fs::path& target) {
  constexpr std::size_t longest_name = 200;  // of NAME_MAX 255, so that the suffix always fits
  return "." + target.filename().native().substr(0, longest_name) + ".sepconv-";
}

/// Whether a name still leads to an open file.
bool leads_to(const fs::path& name, const struct stat& file) {
  struct stat named {};
  return lstat(name.c_str(), &named) == 0 && named.st_dev == file.st_dev && named.st_ino == file.st_ino;
}

/// A descriptor that is closed, and with it a lock of its own given back, at the end.
struct Held {
  explicit Held(int opened) noexcept : descriptor(opened) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (descriptor >= 0) close(descriptor);
  }
  int descriptor;
};

/// Calls `then(status, proved)` with the file locked if nobody else holds it and its name is still its own.
/// `proved`: it is one that we made and did not complete.
template <class Then>
void if_dead(const fs::path& name, const Then& then) {
  struct stat status {};
  // Asked before opening, which may do things to what is not a file.
  if (lstat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return;
  int opened = open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) opened = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const Held file(opened);
  if (file.descriptor < 0 || flock(file.descriptor, LOCK_EX | LOCK_NB) != 0) return;
  if (fstat(file.descriptor, &status) == 0 && S_ISREG(status.st_mode) && leads_to(name, status))
    then(status, status.st_nlink == 1 && fgetxattr(file.descriptor, kMark, nullptr, 0) >= 0);
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

bool locks_tell(const fs::path& folder) {
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
    TemporaryFile made{temporary_name(target)};
    const auto turn = unfinished_paths::turn();
    // Not mkstemp: this way the kernel applies the umask, as for any file that a program makes.
    made.descriptor = open(made.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (made.descriptor < 0) {
      if (errno == EEXIST) continue;
      made.error = errno;
      return made;
    }
    // Between these calls another run may have taken it for a dead one's, and hold it, or have removed it.
    // Where locks or marks are not known the file stays without.
    struct stat status {};
    const bool held_by_other = flock(made.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!held_by_other && fstat(made.descriptor, &status) == 0 && leads_to(made.name, status)) {
      fsetxattr(made.descriptor, kMark, "", 0, 0);
      unfinished_paths::add(made.name);
      return made;
    }
    if (held_by_other) unlink(made.name.c_str());
    close(made.descriptor);
  }
  return {{}, -1, EEXIST};
}

void mark_complete(int descriptor) noexcept { fremovexattr(descriptor, kMark); }

int inherit_rights(int descriptor, mode_t mode, gid_t group) noexcept {
  struct stat made {};
  if (fstat(descriptor, &made) != 0) return errno;
  mode &= S_IRWXU | S_IRWXG | S_IRWXO;  // not setuid and setgid, which the new content was not given
  if (made.st_gid != group && fchown(descriptor, static_cast<uid_t>(-1), group) != 0) {
    // This file's group was among the others, and the other's group is now.
    const mode_t common = mode >> 3 & mode & S_IRWXO;
    mode = (mode & S_IRWXU) | common << 3 | common;
  }
  // For what another user has made nobody else changes them; with these nobody has to.
  if ((made.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) == mode) return 0;
  return fchmod(descriptor, mode) == 0 ? 0 : errno;
}

namespace {

/// "X (3 MiB)" or "2 files like X (3 MiB)", of files that are there.
std::string list_text(const std::vector<fs::path>& names, std::int64_t bytes) {
  const std::string first =
      fmt::format("{} ({})", names.front().native(), format_bytes(static_cast<double>(bytes)));
  return names.size() == 1 ? first : fmt::format("{} files like {}", names.size(), first);
}

}  // namespace

void Leftovers::add_warnings(const fs::path& target, std::vector<std::string>& warnings) const {
  if (!names.empty()) {
    const bool one = names.size() == 1;
    warnings.push_back(fmt::format("{} left {}; {} will be removed when {} is written",
                                   one ? "a killed run" : "killed runs", list_text(names, bytes),
                                   one ? "it" : "they", target.native()));
  }
  if (!unproved.empty()) {
    const bool one = unproved.size() == 1;
    warnings.push_back(
        fmt::format("{0} {1} named like what a killed run leaves, but {1} not marked as such; remove {2} if "
                    "nobody needs {2}",
                    list_text(unproved, unproved_bytes), one ? "is" : "are", one ? "it" : "them"));
  }
}

Leftovers find_leftovers(const fs::path& target) {
  Leftovers found;
  const fs::path folder = folder_of(target);
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (!is_temporary_name(entry->path().filename().native(), target) || !locks_tell(folder)) continue;
    if_dead(entry->path(), [&](const struct stat& status, bool proved) {
      (proved ? found.names : found.unproved).push_back(entry->path());
      (proved ? found.bytes : found.unproved_bytes) += status.st_size;
      if (proved) found.stored_bytes += status.st_blocks * 512;
    });
  }
  std::sort(found.names.begin(), found.names.end());
  std::sort(found.unproved.begin(), found.unproved.end());
  return found;
}

void remove_leftovers(const Leftovers& leftovers) noexcept {
  for (const fs::path& name : leftovers.names) {
    if_dead(name, [&](const struct stat&, bool proved) {
      if (proved) unlink(name.c_str());
    });
  }
}

}  // namespace sepconv
