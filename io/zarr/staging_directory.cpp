#include "io/zarr/staging_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <utility>

#include "io/byte_file.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"
#include "io/join_names.hpp"
#include "io/temporary_file.hpp"
#include "io/unfinished_paths.hpp"
#include "io/zarr/overwrite_check.hpp"
#include "io/zarr/stale_temporaries.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// The suffix of an incomplete file.
constexpr const char* kPartSuffix = ".part";

bool create_mark(const fs::path& folder) noexcept {
  const int descriptor = open((folder / kUnfinishedMark).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  return descriptor >= 0 && close(descriptor) == 0;
}

/// Exchanges the names of two folders. Returns 0 or an errno.
int exchange_names(const fs::path& a, const fs::path& b) noexcept {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  const fs::path aside = a.native() + "-old";
  if (rename(b.c_str(), aside.c_str()) != 0) return errno;
  if (rename(a.c_str(), b.c_str()) == 0) return rename(aside.c_str(), a.c_str()) == 0 ? 0 : errno;
  const int failed = errno;
  rename(aside.c_str(), b.c_str());
  return failed;
}

/// Flushes the file system that contains the descriptor. Returns 0 or an errno.
int sync_all(int descriptor) noexcept { return descriptor >= 0 && syncfs(descriptor) == 0 ? 0 : errno; }

/// Whether a folder contains only the mark, which a run creates first.
bool contains_only_mark(const fs::path& folder) {
  std::error_code ignored;
  const fs::directory_iterator entries(folder, ignored);
  return std::distance(begin(entries), end(entries)) == 1 &&
         fs::is_regular_file(fs::symlink_status(folder / kUnfinishedMark, ignored));
}

}  // namespace

bool has_zarr_metadata(const fs::path& folder) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"zarr.json", ".zarray", ".zgroup", kUnfinishedMark},
      [&](const char* name) {
        std::error_code ignored;
        return fs::is_regular_file(folder / name, ignored);
      });
}

StagingDirectory::StagingDirectory(fs::path target, Options options)
    : target_(without_slash(target)), options_(std::move(options)) {
  check_folder_of(target_);
  check_not_in_array(target_);
  std::error_code ignored;
  const fs::file_status existing = fs::symlink_status(target_, ignored);
  if (fs::exists(existing)) {
    if (fs::is_symlink(existing))
      throw_write_error(target_, "it is a symbolic link, which no folder replaces; name what it leads to");
    if (fs::is_directory(existing) && contains_only_mark(target_))
      throw_write_error(target_, "it is a Zarr that was never finished; remove it, or choose another name",
                        EEXIST);
    if (!fs::is_directory(existing) || !is_zarr(target_))
      throw_write_error(
          target_,
          "it exists and is not Zarr, and nothing else is ever replaced by one; remove it, or choose another "
          "name",
          EEXIST);
    if (!options_.overwrite) throw_write_error(target_, EEXIST);
  }
  leftovers_ = find_dead_folders(target_);
}

StagingDirectory::~StagingDirectory() { discard(); }

void StagingDirectory::add_warnings(std::vector<std::string>& warnings) const {
  for (const fs::path& leftover : leftovers_)
    warnings.push_back(fmt::format("a killed run left {}; it will be removed when {} is written",
                                   leftover.native(), target_.native()));
  std::error_code unknown;
  if (!options_.overwrite || !fs::is_directory(target_, unknown)) return;
  if (auto unrelated = unrelated_entries(target_); !unrelated.empty())
    warnings.push_back(fmt::format("{} is replaced as a whole, with everything in it: {}", target_.native(),
                                   join_names(std::move(unrelated))));
}

void StagingDirectory::discard() noexcept {
  if (!path_.empty() && !options_.checkpoint) {
    remove_marked_folder(path_);
    unfinished_paths::forget(path_);
  }
  if (lock_ >= 0) close(std::exchange(lock_, -1));
  path_.clear();
}

const fs::path& StagingDirectory::path() {
  const std::lock_guard lock(mutex_);
  if (!path_.empty()) return path_;
  for (const fs::path& leftover : leftovers_) remove_dead_folder(leftover);
  constexpr int kAttempts = 100;
  for (int attempt = 0; !create_locked(attempt + 1 == kAttempts); ++attempt) {
  }
  return path_;
}

bool StagingDirectory::create_locked(bool is_last) {
  create_folder();
  lock_ = open_folder(path_);
  // The lock may be unsupported, and a process that searches for stale folders holds it briefly. The folder
  // of a checkpoint is not locked: the processes of all parts share it, and it survives a killed process.
  if (lock_ >= 0 && !options_.checkpoint) flock(lock_, LOCK_EX);
  if (lock_ >= 0 && create_mark(path_)) return true;
  const int failed = errno;
  if (failed != ENOENT || is_last || options_.checkpoint) throw_write_error(target_, failed);
  if (lock_ >= 0) close(std::exchange(lock_, -1));
  unfinished_paths::forget(path_);
  path_.clear();
  return false;
}

void StagingDirectory::create_folder() {
  if (options_.checkpoint) {
    const fs::path folder = options_.checkpoint->place(false);
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(target_, errno);
    path_ = folder;
    return;
  }
  for (int attempt = 0; attempt < 100 && path_.empty(); ++attempt) {
    const fs::path folder = temporary_name(target_);
    const auto guard = unfinished_paths::turn();
    if (mkdir(folder.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      throw_write_error(target_, errno);
    }
    unfinished_paths::add(folder);
    path_ = folder;
  }
}

fs::path StagingDirectory::part_path(const std::string& name) {
  return (path() / name).native() + kPartSuffix + (options_.checkpoint ? options_.checkpoint->suffix() : "");
}

int StagingDirectory::open_new(const fs::path& file, int flags) {
  const auto guard = unfinished_paths::turn();
  int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
  if (descriptor >= 0 || errno != ENOENT) return descriptor;
  // Creates folders only below path_: if another process has removed path_, it is not created again.
  fs::path folder = path_;
  for (const fs::path& name : file.parent_path().lexically_relative(path_)) {
    folder /= name;
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return -1;
  }
  return open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
}

/// Throws for a failed open or rename: another process may have removed the file or replaced it by another
/// type.
void StagingDirectory::throw_failed(const fs::path& file, int error) const {
  if (options_.checkpoint) options_.checkpoint->check_run_exists();
  throw_write_error(error == EISDIR || error == ENOTDIR || error == ELOOP ? file : target_, error);
}

void StagingDirectory::write(const fs::path& file, int flags, std::int64_t offset,
                             std::span<const std::byte> bytes) {
  const int descriptor = open_new(file, flags);
  if (descriptor < 0) throw_failed(file, errno);
  int error = write_fully(descriptor, offset, bytes);
  if (options_.checkpoint || options_.durable) begin_writing(descriptor, offset, std::ssize(bytes));
  if (close(descriptor) != 0 && error == 0) error = errno;  // where network file systems report a full disk
  if (error != 0) throw_write_error(target_, error);
}

void StagingDirectory::add(const std::string& name, std::span<const std::byte> bytes) {
  if (!options_.checkpoint) return write(path() / name, O_CREAT | O_EXCL, 0, bytes);
  record_added(name);
  // The file of a previous run may exist, or, if there are several parts, that of another process.
  const bool is_sole_writer = options_.checkpoint->suffix().empty();
  write(is_sole_writer ? path() / name : part_path(name), O_CREAT | O_TRUNC, 0, bytes);
  if (!is_sole_writer) rename_part(name);
  options_.checkpoint->sample_file(name, 0, bytes, std::ssize(bytes));
}

void StagingDirectory::write_part(const std::string& name, bool is_first, std::int64_t offset,
                                  std::span<const std::byte> bytes) {
  const int create_flags = O_CREAT | (options_.checkpoint ? O_TRUNC : O_EXCL);
  write(part_path(name), is_first ? create_flags : 0, offset, bytes);
  if (options_.checkpoint) options_.checkpoint->sample_file(name, offset, bytes);
}

void StagingDirectory::complete_part(const std::string& name, std::int64_t bytes) {
  rename_part(name);
  record_added(name);
  if (options_.checkpoint) options_.checkpoint->sample_file(name, 0, {}, bytes);
}

void StagingDirectory::record_added(const std::string& name) {
  if (!is_chunk_) return;
  const std::lock_guard lock(mutex_);
  added_.insert(name);
}

void StagingDirectory::rename_part(const std::string& name) {
  const fs::path file = path() / name;
  if (rename(part_path(name).c_str(), file.c_str()) != 0) throw_failed(file, errno);
}

void StagingDirectory::read_and_remove_part(const std::string& name, std::span<std::byte> bytes) {
  const fs::path part = part_path(name);
  InputFile(part).read_at(0, bytes);
  if (unlink(part.c_str()) != 0) throw_write_error(target_, errno);
}

void StagingDirectory::reopen_part(const std::string& name, std::int64_t bytes) {
  const fs::path part = part_path(name);
  std::error_code missing;
  if (!fs::exists(part, missing)) rename((path() / name).c_str(), part.c_str());
  const int descriptor = open(part.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) throw_failed(part, errno);
  const int error = ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  close(descriptor);
  if (error != 0) throw_write_error(target_, error);
}

/// Removes incomplete files. Throws for links, which readers do not follow, and for files that are not part
/// of the result: readers would take them for chunks or nodes.
void StagingDirectory::remove_parts(const fs::path& folder) const {
  std::error_code ignored;
  std::vector<fs::path> incomplete;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_symlink()) throw_write_error(entry.path(), ELOOP);
    const std::string name = entry.path().filename().native();
    if (name.ends_with(kPartSuffix) || name.find(std::string(kPartSuffix) + ".sepconv-") != name.npos)
      incomplete.push_back(entry.path());
    else if (const std::string key = entry.path().lexically_relative(folder).native();
             !entry.is_directory() && key != kUnfinishedMark &&
             !name.starts_with(checkpoint_names::kRemovedWhileOpen) && !added_.contains(key) &&
             !is_chunk_(key))
      throw_write_error(entry.path(), "it is not part of the result; remove it, and continue", EEXIST);
  }
  for (const fs::path& path : incomplete) fs::remove(path, ignored);
}

void StagingDirectory::commit() {
  const fs::path folder = path();
  if (options_.checkpoint) remove_parts(folder);
  int error = options_.durable && !options_.checkpoint ? sync_all(lock_) : 0;
  auto guard = unfinished_paths::turn();
  if (error == 0 && unlink((folder / kUnfinishedMark).c_str()) != 0) error = errno;
  std::error_code ignored;
  const bool replaces = error == 0 && options_.overwrite && fs::exists(target_, ignored);
  if (replaces && !is_zarr(target_)) error = EEXIST;
  if (error == 0 && options_.checkpoint) {
    options_.checkpoint->commit(replaces);
    unfinished_paths::note_complete();
    return discard();
  }
  if (error == 0) error = replaces ? exchange_names(folder, target_) : rename_noreplace(folder, target_);
  if (error != 0) {
    discard();
    throw_write_error(target_, error);
  }
  // The replaced folder now has the hidden name. The mark identifies it if this process is killed before it
  // is removed.
  if (replaces) create_mark(folder);
  if (!replaces) unfinished_paths::forget(std::exchange(path_, {}));
  unfinished_paths::note_complete();
  guard.unlock();
  if (options_.durable) error = sync_all(lock_);
  discard();
  if (error != 0) throw_write_error(target_, error);
}

}  // namespace sepconv
