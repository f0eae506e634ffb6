#include "sepconv/io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_read_error(const fs::path& path, std::string_view fact) {
  throw IoError(fmt::format("cannot read {}: {}", path.native(), fact));
}

[[noreturn]] void throw_write_error(const fs::path& path, std::string_view fact) {
  throw IoError(fmt::format("cannot write {}: {}", path.native(), fact));
}

std::string read_fact(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "there is no such file; check the name";
    case EACCES:
      return "permission is denied; ask its owner for the right to read it";
    case EMFILE:
      return "this process has too many files open; raise the limit (ulimit -n)";
    default:
      return fmt::format("{}; check the disk or copy the file anew", std::strerror(error));
  }
}

std::string write_fact(int error) {
  switch (error) {
    case ENOSPC:
      return "no space is left on the device; free some or choose another place";
    case EDQUOT:
      return "the disk quota is used up; free some space or choose another place";
    case EFBIG:
      return "the file would be larger than its file system or the process limit (ulimit -f) allows; choose "
             "another place";
    case EACCES:
    case EPERM:
      return "permission is denied in its folder; choose another place";
    case EROFS:
      return "its file system is read-only; choose another place";
    case ENAMETOOLONG:
      return "the name is too long for its file system; choose a shorter one";
    default:
      return fmt::format("{}; choose another place", std::strerror(error));
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Shared by both classes: the number of bytes read, short only at the end of the file; -1 and errno on
/// failure.
std::int64_t read_fully(int descriptor, std::int64_t offset, std::span<std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = pread(descriptor, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + static_cast<std::int64_t>(done)));
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(done);
}

/// ".NAME.sepconv-XXXXXX" in the target's folder: hidden, and on the same file system, so that a rename
/// completes it.
fs::path temporary_name(const fs::path& target) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::size_t longest_name = 200;  // of NAME_MAX 255, so that the suffix always fits
  std::random_device random;
  std::string name = "." + target.filename().native().substr(0, longest_name) + ".sepconv-";
  for (int i = 0; i < 6; ++i) name += letters[random() % letters.size()];
  return folder_of(target) / name;
}

/// Renames without replacing. File systems that cannot do it in one step get a hard link, which fails
/// likewise if the target exists. Returns 0 or an errno.
int rename_to_absent(const fs::path& from, const fs::path& to) noexcept {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  unlink(from.c_str());
  return 0;
}

void sync_folder(const fs::path& target) {
  const int folder = open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int failed = folder < 0 || fsync(folder) != 0 ? errno : 0;
  if (folder >= 0) close(folder);
  if (failed != 0)
    throw_write_error(target, "its folder could not be synchronised to the disk: " + write_fact(failed));
}

std::string exists_fact() { return "it exists already; give --force to replace it or choose another name"; }

void check_target(const fs::path& target, bool overwrite) {
  if (!target.has_filename()) throw_write_error(target, "the name of a file is missing; add one");
  const fs::path folder = folder_of(target);
  std::error_code ignored;
  const fs::file_status folder_status = fs::status(folder, ignored);
  if (!fs::exists(folder_status)) {
    throw_write_error(target, fmt::format("the folder {} does not exist; make it or choose another place",
                                          folder.native()));
  }
  if (!fs::is_directory(folder_status)) {
    throw_write_error(target, fmt::format("{} is no folder; choose another place", folder.native()));
  }
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) throw_write_error(target, "it is a folder; add the name of a file");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw_write_error(target, "it is no regular file; choose the name of a file");
  }
  // A symbolic link that leads nowhere has no status of its own, yet its name is taken.
  if (!overwrite && fs::exists(fs::symlink_status(target, ignored))) throw_write_error(target, exists_fact());
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw_write_error(
        target, errno == EROFS
                    ? write_fact(EROFS)
                    : fmt::format("the folder {} is not writable; choose another place", folder.native()));
  }
}

/// Where the symbolic link `target` leads in the end, whether a file is there or not; else `target` itself.
fs::path behind_links(const fs::path& target) {
  constexpr int kMaxLinks = 40;  // Linux's own limit, path_resolution(7)
  fs::path path = target;
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, ignored)); ++links) {
    if (links == kMaxLinks)
      throw_write_error(target, "it is a symbolic link that leads in a circle; choose another name");
    std::error_code failed;
    const fs::path next = fs::read_symlink(path, failed);
    if (failed) throw_write_error(target, write_fact(failed.value()));
    path = path.parent_path() / next;  // an absolute one replaces all
  }
  return path;
}

}  // namespace

InputFile::InputFile(const fs::path& path) : path_(path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw_read_error(path, read_fact(errno));
  if (S_ISDIR(status.st_mode)) throw_read_error(path, "it is a folder; give the name of a file");
  // Asked before opening: opening a pipe would wait for its writer.
  if (!S_ISREG(status.st_mode))
    throw_read_error(path, "it is no regular file, and pixels are read at offsets; save it to a file first");
  if (status.st_size == 0) throw_read_error(path, "the file is empty; make it anew");
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw_read_error(path, read_fact(errno));
  size_ = status.st_size;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), size_(other.size_), descriptor_(std::exchange(other.descriptor_, -1)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void InputFile::read_at(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::int64_t count = read_some_at(offset, bytes);
  if (count == static_cast<std::int64_t>(bytes.size())) return;
  throw_read_error(
      path_, fmt::format("the file ends at byte {} where {} more bytes belong; it is truncated, copy it anew",
                         offset + count, static_cast<std::int64_t>(bytes.size()) - count));
}

std::int64_t InputFile::read_some_at(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::int64_t count = read_fully(descriptor_, offset, bytes);
  if (count < 0) throw_read_error(path_, read_fact(errno));
  return count;
}

OutputFile::OutputFile(const fs::path& target, Options options) : target_(target), options_(options) {
  check_target(target, options.overwrite);
  // Renaming over a symbolic link would replace the link; what the user means is the file behind it.
  target_ = behind_links(target);
  if (target_ != target) check_target(target_, options.overwrite);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (!committed_ && !temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

int OutputFile::descriptor() {
  const std::lock_guard lock(making_);
  if (descriptor_ < 0) make_temporary();
  return descriptor_;
}

void OutputFile::make_temporary() {
  if (committed_) throw std::logic_error(fmt::format("{} is written to after its commit", target_.native()));
  int attempts = 100;
  do {
    fs::path name = temporary_name(target_);
    // Not mkstemp: this way the kernel applies the umask, as for any file that a program makes.
    descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) temporary_ = std::move(name);
  } while (descriptor_ < 0 && errno == EEXIST && --attempts > 0);
  if (descriptor_ < 0) throw_write_error(target_, write_fact(errno));

  struct stat replaced {};
  if (options_.overwrite && stat(target_.c_str(), &replaced) == 0 &&
      fchmod(descriptor_, replaced.st_mode & 07777) != 0) {
    throw_write_error(target_, write_fact(errno));
  }
}

void OutputFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  const int file = descriptor();
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    // Zero bytes written without an error: what a full device does on some file systems.
    if (count <= 0) throw_write_error(target_, write_fact(count == 0 ? ENOSPC : errno));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

std::int64_t OutputFile::read_some_at(std::int64_t offset, std::span<std::byte> bytes) {
  const std::int64_t count = read_fully(descriptor(), offset, bytes);
  if (count < 0) throw_read_error(target_, read_fact(errno));
  return count;
}

void OutputFile::resize(std::int64_t bytes) {
  if (ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) throw_write_error(target_, write_fact(errno));
}

void OutputFile::commit() {
  const int file = descriptor();
  int failed = options_.durable && fsync(file) != 0 ? errno : 0;
  // Network file systems report a full disk here.
  if (close(std::exchange(descriptor_, -1)) != 0 && failed == 0) failed = errno;
  if (failed == 0) {
    failed = options_.overwrite ? (rename(temporary_.c_str(), target_.c_str()) == 0 ? 0 : errno)
                                : rename_to_absent(temporary_, target_);
  }
  if (failed != 0) {
    discard();
    throw_write_error(target_, failed == EEXIST ? exists_fact() : write_fact(failed));
  }
  committed_ = true;
  if (options_.durable) sync_folder(target_);
}

}  // namespace sepconv
