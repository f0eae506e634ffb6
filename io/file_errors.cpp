#include "io/file_errors.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace sepconv {

namespace {

constexpr const char* kTooManyFiles = "this process has too many files open; raise the limit (ulimit -n)";

std::string read_error_text(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "there is no such file; check the name";
    case EACCES:
      return "permission is denied; ask its owner for the right to read it";
    case EMFILE:
      return kTooManyFiles;
    default:
      return fmt::format("{}; check the disk or copy the file again", std::strerror(error));
  }
}

}  // namespace

void throw_read_error(const std::filesystem::path& path, std::string_view fact, int error) {
  throw IoError(fmt::format("cannot read {}: {}", path.native(), fact), error);
}

void throw_write_error(const std::filesystem::path& path, std::string_view fact, int error) {
  throw IoError(fmt::format("cannot write {}: {}", path.native(), fact), error);
}

void throw_read_error(const std::filesystem::path& path, int error) {
  throw_read_error(path, read_error_text(error), error);
}

void throw_write_error(const std::filesystem::path& path, int error) {
  throw_write_error(path, write_error_text(error), error);
}

std::string write_error_text(int error) {
  switch (error) {
    case ENOSPC:
      return "no space is left on the device; free some or choose another place";
    case EDQUOT:
      return "the disk quota is used up; free some space or choose another place";
    case EFBIG:
      return "the file would be larger than its file system or the process limit (ulimit -f) allows; choose "
             "another place";
    case EEXIST:
      return "it exists already; give CreateOptions::overwrite to replace it or choose another name";
    case EACCES:
    case EPERM:
      return "permission is denied in its folder; choose another place";
    case EROFS:
      return "its file system is read-only; choose another place";
    case ENAMETOOLONG:
      return "the name is too long for its file system; choose a shorter one";
    case ELOOP:
      return "a symbolic link is in the path, and is not followed; remove it, or choose another place";
    case EISDIR:
      return "it is a folder instead of a file; remove it, or choose another place";
    case EMFILE:
      return kTooManyFiles;
    default:
      return fmt::format("{}; choose another place", std::strerror(error));
  }
}

std::filesystem::path without_slash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void check_folder_of(const std::filesystem::path& target) {
  namespace fs = std::filesystem;
  const fs::path folder = folder_of(target);
  std::error_code ignored;
  const fs::file_status status = fs::status(folder, ignored);
  if (!fs::exists(status)) {
    throw_write_error(
        target, fmt::format("the folder {} does not exist; make it or choose another place", folder.native()),
        ENOENT);
  }
  if (!fs::is_directory(status))
    throw_write_error(target, fmt::format("{} is not a folder; choose another place", folder.native()),
                      ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return;
  if (errno == EROFS) throw_write_error(target, EROFS);
  throw_write_error(
      target, fmt::format("the folder {} is not writable; choose another place", folder.native()), EACCES);
}

int write_fully(int descriptor, std::int64_t offset, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? ENOSPC : errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return 0;
}

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

std::filesystem::path resolve_links(const std::filesystem::path& target) {
  constexpr int kMaxLinks = 40;  // the limit of Linux
  std::filesystem::path path = target;
  std::error_code ignored;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored)); ++links) {
    if (links == kMaxLinks)
      throw_write_error(target, "it is a symbolic link that leads in a circle; choose another name");
    std::error_code read_link_error;
    const std::filesystem::path next = std::filesystem::read_symlink(path, read_link_error);
    if (read_link_error) throw_write_error(target, read_link_error.value());
    path = path.parent_path() / next;  // an absolute path replaces it
  }
  return path;
}

}  // namespace sepconv
