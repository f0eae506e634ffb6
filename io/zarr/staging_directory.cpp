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
#include "io/checkpoint.hpp"
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

/// What is added to the name of a file that is not complete.
constexpr const char* kPart = ".part";

bool put_mark(const fs::path& folder) noexcept {
  const int mark = open((folder / kUnfinishedMark).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  return mark >= 0 && close(mark) == 0;
}

/// Puts a folder in the place of another, which then has its name. Returns 0 or an errno.
int exchange(const fs::path& a, const fs::path& b) noexcept {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  const fs::path aside = a.native() + "-old";
  if (rename(b.c_str(), aside.c_str()) != 0) return errno;
  if (rename(a.c_str(), b.c_str()) == 0) return rename(aside.c_str(), a.c_str()) == 0 ? 0 : errno;
  const int failed = errno;
  rename(aside.c_str(), b.c_str());
  return failed;
}

/// All that was written in this file system.
int sync_all(int descriptor) noexcept { return descriptor >= 0 && syncfs(descriptor) == 0 ? 0 : errno; }

/// All that a run makes first.
bool has_mark_alone(const fs::path& folder) {
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
  const fs::file_status there = fs::symlink_status(target_, ignored);
  if (fs::exists(there)) {
    if (fs::is_symlink(there))
      throw_write_error(target_, "it is a symbolic link, which no folder replaces; name what it leads to");
    if (fs::is_directory(there) && has_mark_alone(target_))
      throw_write_error(target_, "it is a Zarr that was never finished; remove it, or choose another name",
                        EEXIST);
    if (!fs::is_directory(there) || !is_zarr(target_))
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
  for (const fs::path& left : leftovers_)
    warnings.push_back(fmt::format("a killed run left {}; it will be removed when {} is written",
                                   left.native(), target_.native()));
  std::error_code unknown;
  if (!options_.overwrite || !fs::is_directory(target_, unknown)) return;
  if (auto others = unrelated_entries(target_); !others.empty())
    warnings.push_back(fmt::format("{} is replaced as a whole, with all that lies in it: {}",
                                   target_.native(), join_names(std::move(others))));
}

void StagingDirectory::discard() noexcept {
  if (!place_.empty() && !options_.partial) {
    remove_marked_folder(place_);
    unfinished_paths::forget(place_);
  }
  if (lock_ >= 0) close(std::exchange(lock_, -1));
  place_.clear();
}

const fs::path& StagingDirectory::place() {
  const std::lock_guard lock(making_);
  if (!place_.empty()) return place_;
  for (const fs::path& left : leftovers_) remove_dead_folder(left);
  constexpr int kAttempts = 100;
  for (int attempt = 0; !take_place(attempt + 1 == kAttempts); ++attempt) {
  }
  return place_;
}

bool StagingDirectory::take_place(bool is_last) {
  make_place();
  lock_ = open_folder(place_);
  // Where the file system can; who looks for killed ones has it shortly. Of a partial result the folder is
  // that of all its parts, none of which waits for another, and no killed process's.
  if (lock_ >= 0 && !options_.partial) flock(lock_, LOCK_EX);
  if (lock_ >= 0 && put_mark(place_)) return true;
  const int failed = errno;
  if (failed != ENOENT || is_last || options_.partial) throw_write_error(target_, failed);
  if (lock_ >= 0) close(std::exchange(lock_, -1));
  unfinished_paths::forget(place_);
  place_.clear();
  return false;
}

void StagingDirectory::make_place() {
  if (options_.partial) {
    const fs::path made = options_.partial->place(false);
    if (mkdir(made.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(target_, errno);
    place_ = made;
    return;
  }
  for (int attempt = 0; attempt < 100 && place_.empty(); ++attempt) {
    const fs::path made = temporary_name(target_);
    const auto turn = unfinished_paths::turn();
    if (mkdir(made.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      throw_write_error(target_, errno);
    }
    unfinished_paths::add(made);
    place_ = made;
  }
}

fs::path StagingDirectory::part_of(const std::string& name) {
  return (place() / name).native() + kPart + (options_.partial ? options_.partial->suffix() : "");
}

int StagingDirectory::open_new(const fs::path& file, int flags) {
  const auto turn = unfinished_paths::turn();
  int opened = open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
  if (opened >= 0 || errno != ENOENT) return opened;
  // Only below what is made: where another process has removed that it stays so.
  fs::path folder = place_;
  for (const fs::path& name : file.parent_path().lexically_relative(place_)) {
    folder /= name;
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return -1;
  }
  return open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
}

/// What is written to may have been taken away by another process, or have something else in its place.
void StagingDirectory::throw_failed(const fs::path& file, int error) const {
  if (options_.partial) options_.partial->check_is_of_run();
  throw_write_error(error == EISDIR || error == ENOTDIR || error == ELOOP ? file : target_, error);
}

void StagingDirectory::write(const fs::path& file, int flags, std::int64_t offset,
                             std::span<const std::byte> bytes) {
  const int opened = open_new(file, flags);
  if (opened < 0) throw_failed(file, errno);
  int failed = write_fully(opened, offset, bytes);
  if (options_.partial || options_.durable) begin_writing(opened, offset, std::ssize(bytes));
  if (close(opened) != 0 && failed == 0) failed = errno;  // where network file systems report a full disk
  if (failed != 0) throw_write_error(target_, failed);
}

void StagingDirectory::add(const std::string& name, std::span<const std::byte> bytes) {
  if (!options_.partial) return write(place() / name, O_CREAT | O_EXCL, 0, bytes);
  note(name);
  // One that a run before was at work on may be there; of parts, one that another process is at work on.
  const bool is_alone = options_.partial->suffix().empty();
  write(is_alone ? place() / name : part_of(name), O_CREAT | O_TRUNC, 0, bytes);
  if (!is_alone) name_part(name);
  options_.partial->sample_whole(name, std::ssize(bytes), bytes);
}

void StagingDirectory::write_part(const std::string& name, bool is_first, std::int64_t offset,
                                  std::span<const std::byte> bytes) {
  const int made_new = O_CREAT | (options_.partial ? O_TRUNC : O_EXCL);
  write(part_of(name), is_first ? made_new : 0, offset, bytes);
  if (options_.partial) options_.partial->sample(name, bytes, offset);
}

void StagingDirectory::complete_part(const std::string& name, std::int64_t bytes) {
  name_part(name);
  note(name);
  if (options_.partial) options_.partial->sample_whole(name, bytes, {});
}

void StagingDirectory::note(const std::string& name) {
  if (!is_chunk_) return;
  const std::lock_guard lock(making_);
  added_.insert(name);
}

void StagingDirectory::name_part(const std::string& name) {
  const fs::path file = place() / name;
  if (rename(part_of(name).c_str(), file.c_str()) != 0) throw_failed(file, errno);
}

void StagingDirectory::take_part(const std::string& name, std::span<std::byte> bytes) {
  const fs::path part = part_of(name);
  InputFile(part).read_at(0, bytes);
  if (unlink(part.c_str()) != 0) throw_write_error(target_, errno);
}

void StagingDirectory::reopen_part(const std::string& name, std::int64_t bytes) {
  const fs::path part = part_of(name);
  std::error_code missing;
  if (!fs::exists(part, missing)) rename((place() / name).c_str(), part.c_str());
  const int opened = open(part.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (opened < 0) throw_failed(part, errno);
  const int failed = ftruncate(opened, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  close(opened);
  if (failed != 0) throw_write_error(target_, failed);
}

/// Throws for links, which those that read the result do not follow, and for what is not part of the result:
/// under the result's name others would read it as one.
void StagingDirectory::remove_parts(const fs::path& made) const {
  std::error_code ignored;
  std::vector<fs::path> left;
  for (const auto& entry : fs::recursive_directory_iterator(made, ignored)) {
    if (entry.is_symlink()) throw_write_error(entry.path(), ELOOP);
    const std::string name = entry.path().filename().native();
    if (name.ends_with(kPart) || name.find(std::string(kPart) + ".sepconv-") != name.npos)
      left.push_back(entry.path());
    else if (const std::string key = entry.path().lexically_relative(made).native();
             !entry.is_directory() && key != kUnfinishedMark &&
             !name.starts_with(partial_names::kRemovedWhileOpen) && !added_.contains(key) && !is_chunk_(key))
      throw_write_error(entry.path(),
                        "somebody put it there, and it is not part of the result; remove it, and go on",
                        EEXIST);
  }
  for (const fs::path& path : left) fs::remove(path, ignored);
}

void StagingDirectory::commit() {
  const fs::path made = place();
  if (options_.partial) remove_parts(made);
  int failed = options_.durable && !options_.partial ? sync_all(lock_) : 0;
  auto turn = unfinished_paths::turn();
  if (failed == 0 && unlink((made / kUnfinishedMark).c_str()) != 0) failed = errno;
  std::error_code ignored;
  const bool replaces = failed == 0 && options_.overwrite && fs::exists(target_, ignored);
  if (replaces && !is_zarr(target_)) failed = EEXIST;
  if (failed == 0 && options_.partial) {
    options_.partial->commit(replaces);
    unfinished_paths::note_complete();
    return discard();
  }
  if (failed == 0) failed = replaces ? exchange(made, target_) : rename_to_absent(made, target_);
  if (failed != 0) {
    discard();
    throw_write_error(target_, failed);
  }
  // What was replaced has the hidden name now. A mark in it says so if this process does not live to remove
  // it.
  if (replaces) put_mark(made);
  if (!replaces) unfinished_paths::forget(std::exchange(place_, {}));
  unfinished_paths::note_complete();
  turn.unlock();
  if (options_.durable) failed = sync_all(lock_);
  discard();
  if (failed != 0) throw_write_error(target_, failed);
}

}  // namespace sepconv
