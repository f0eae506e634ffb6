#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "core/byte_text.hpp"
#include "io/byte_file.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"
#include "io/mapped_store.hpp"
#include "io/sidecars.hpp"
#include "io/unfinished_paths.hpp"
#include "io/writer.hpp"
#include "io/zarr/overwrite_check.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// Free bytes of the target's file system; the maximum of std::int64_t if unknown.
std::int64_t free_bytes(const fs::path& target) {
  struct statvfs system {};
  if (statvfs(folder_of(target).c_str(), &system) != 0 || system.f_blocks == 0)
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  return __builtin_mul_overflow(system.f_bavail, system.f_frsize, &bytes)
             ? std::numeric_limits<std::int64_t>::max()
             : bytes;
}

/// Bytes that a file occupies on the disk; 0 without a file.
std::int64_t stored_bytes(int descriptor) {
  struct stat status {};
  return descriptor >= 0 && fstat(descriptor, &status) == 0 ? status.st_blocks * 512 : 0;
}

std::string space_fact(std::int64_t needed, std::int64_t available) {
  return fmt::format("it takes {} and its file system has {} free; free some space or choose another place",
                     format_bytes(static_cast<double>(needed)), format_bytes(static_cast<double>(available)));
}

void check_target(const fs::path& target, bool overwrite) {
  if (!target.has_filename()) throw_write_error(target, "the name of a file is missing; add one");
  check_folder_of(target);
  check_not_in_array(target);
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) throw_write_error(target, "it is a folder; add the name of a file", EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw_write_error(target, "it is not a regular file; choose the name of a file");
  }
  // A dangling symbolic link has no status, but its name is in use.
  if (!overwrite && fs::exists(fs::symlink_status(target, ignored))) throw_write_error(target, EEXIST);
}

/// Status of the file that is replaced, if any.
std::optional<struct stat> status_of_replaced(const fs::path& target, bool overwrite) {
  struct stat status {};
  if (!overwrite || stat(target.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// Copies permissions, plus `extra_mode`, and group of the replaced file. Returns 0 or an errno.
int copy_permissions(const std::optional<struct stat>& replaced, mode_t extra_mode, int descriptor) {
  return replaced ? inherit_permissions(descriptor, replaced->st_mode | extra_mode, replaced->st_gid) : 0;
}

}  // namespace

OutputFile::OutputFile(const fs::path& target, Options options)
    : target_(target), options_(std::move(options)) {
  check_target(target, options_.overwrite);
  // Renaming to a symbolic link would replace the link instead of the file that it refers to.
  target_ = resolve_links(target);
  if (target_ != target) check_target(target_, options_.overwrite);
  leftovers_ = find_leftovers(target_);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::add_warnings(std::vector<std::string>& warnings) const {
  warn_of_stale_sidecars(target_, warnings);
  leftovers_.add_warnings(target_, warnings);
  const std::int64_t available_bytes = free_bytes(target_);
  if (available_bytes < expected_bytes_ - leftovers_.stored_bytes)
    warnings.push_back(fmt::format("{} cannot be written: {}", target_.native(),
                                   space_fact(expected_bytes_, available_bytes)));
}

void OutputFile::expect(std::int64_t bytes) {
  expected_bytes_ = bytes;
  if (bytes >= MappedStore::kMinFileBytes && !options_.per_part)
    mapped_ = std::make_unique<MappedStore>(folder_of(target_), bytes);
  if (options_.checkpoint) options_.checkpoint->expect(bytes);
}

void OutputFile::discard() noexcept {
  if (!committed_ && !temporary_.empty() && !options_.checkpoint) {
    unlink(temporary_.c_str());  // before the lock is released
    unfinished_paths::forget(temporary_);
  }
  mapped_.reset();
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  temporary_.clear();
}

int OutputFile::descriptor() {
  const std::lock_guard lock(creation_mutex_);
  if (descriptor_ < 0) create_temporary();
  return descriptor_;
}

void OutputFile::create_temporary() {
  if (committed_) throw std::logic_error(fmt::format("{} is written to after its commit", target_.native()));
  remove_leftovers(leftovers_);
  const std::optional<struct stat> replaced = status_of_replaced(target_, options_.overwrite);
  // Without permissions for others until those of the replaced file are set.
  const mode_t mode = replaced ? 0600 : 0666;
  TemporaryFile file = options_.checkpoint ? open_in_checkpoint(mode) : TemporaryFile{};
  const std::int64_t available_bytes = free_bytes(target_) + stored_bytes(file.descriptor);
  if (available_bytes < expected_bytes_)
    throw_write_error(target_, space_fact(expected_bytes_, available_bytes), ENOSPC);
  if (!options_.checkpoint) file = make_temporary_file(target_, mode);
  if (file.descriptor < 0) throw_write_error(target_, file.error);
  descriptor_ = file.descriptor;
  temporary_ = std::move(file.name);
  // Other runs of the owner must be able to continue it, whatever the permissions of the replaced file are.
  const mode_t extra_mode = options_.checkpoint ? S_IRUSR | S_IWUSR : 0;
  if (const int failed = copy_permissions(replaced, extra_mode, descriptor_); failed != 0)
    throw_write_error(target_, failed);
  // A full disk is found before anything is computed.
  if (const int failed = mapped_ ? mapped_->reserve(descriptor_) : 0; failed != 0)
    throw_write_error(target_, failed);
}

int OutputFile::max_write_threads() const noexcept { return mapped_ ? mapped_->threads() : 1; }

int OutputFile::begin_writes(int threads) {
  const int file = descriptor();
  if (threads > 1 && mapped_) mapped_->begin(file);
  return threads;
}

int OutputFile::write_threads_bound(int concurrency) const noexcept {
  // Does not depend on the file system, so that plans of a file hold for copies of it elsewhere.
  return mapped_write_threads(mapped_ ? MappedStore::kMaxThreads : 1, concurrency);
}

std::int64_t OutputFile::memory_bytes(int concurrency) const noexcept {
  return write_threads_bound(concurrency) == 1 ? 0 : MappedStore::kMemoryBytes;
}

TemporaryFile OutputFile::open_in_checkpoint(mode_t mode) {
  TemporaryFile file{options_.checkpoint->place(options_.per_part)};
  file.descriptor = open(file.name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
  file.error = errno;
  descriptor_ = file.descriptor;  // the destructor closes it
  return file;
}

void OutputFile::write_pixels_at(std::int64_t offset, std::span<const std::byte> bytes) {
  if (mapped_ && std::ssize(bytes) >= kMinMappedPieceBytes && mapped_->store(offset, bytes))
    note_written(offset, bytes);
  else
    write_at(offset, bytes);
  if (options_.checkpoint) options_.checkpoint->sample(options_.per_part, offset, bytes);
}

void OutputFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  if (const int failed = write_fully(descriptor(), offset, bytes); failed != 0)
    throw_write_error(target_, failed);
  note_written(offset, bytes);
}

void OutputFile::note_written(std::int64_t offset, std::span<const std::byte> bytes) const noexcept {
  if (options_.checkpoint || options_.durable) begin_writing(descriptor_, offset, std::ssize(bytes));
}

std::int64_t OutputFile::read_some_at(std::int64_t offset, std::span<std::byte> bytes) {
  const std::int64_t count = read_fully(descriptor(), offset, bytes);
  if (count < 0) throw_read_error(target_, errno);
  return count;
}

void OutputFile::resize(std::int64_t bytes) {
  if (ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) throw_write_error(target_, errno);
}

void OutputFile::commit() {
  const int file = descriptor();
  mapped_.reset();
  mark_complete(file);
  // Network file systems report a full disk on close. A duplicate is closed, as the lock must be held until
  // the rename; otherwise another run would remove the file.
  const int duplicate = fcntl(file, F_DUPFD_CLOEXEC, 0);
  int failed = duplicate < 0 || close(duplicate) != 0 ? errno : 0;
  if (failed == 0 && !options_.checkpoint) failed = rename_into_place(file);
  if (failed != 0) {
    discard();
    throw_write_error(target_, failed);
  }
  if (options_.checkpoint) {
    const std::optional<struct stat> replaced = status_of_replaced(target_, options_.overwrite);
    options_.checkpoint->commit(options_.overwrite);
    failed = copy_permissions(replaced, 0, file);
  }
  committed_ = true;
  unfinished_paths::note_complete();
  close(std::exchange(descriptor_, -1));
  if (failed != 0) throw_write_error(target_, failed);
  if (options_.durable && !options_.checkpoint) sync_names(folder_of(target_));
}

/// Returns 0 or an errno.
int OutputFile::rename_into_place(int file) const {
  if (options_.durable && fsync(file) != 0) return errno;
  const auto guard = unfinished_paths::turn();
  int failed = 0;
  if (!options_.overwrite)
    failed = rename_noreplace(temporary_, target_);
  else if (rename(temporary_.c_str(), target_.c_str()) != 0)
    failed = errno;
  if (failed == 0) unfinished_paths::forget(temporary_);
  return failed;
}

}  // namespace sepconv
