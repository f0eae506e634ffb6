// Writes checkpoints: the log and samples of the data, and the names of the result and its parts.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/error.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/checkpoint/folder.hpp"
#include "io/checkpoint/log.hpp"
#include "io/checkpoint/records.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace checkpoint_names;

constexpr const char* kBegunError = "another process has begun it meanwhile; resume it, or discard it";

void rename_within(const fs::path& folder, const std::string& from, const std::string& to) {
  if (rename((folder / from).c_str(), (folder / to).c_str()) != 0) throw_write_error(folder, errno);
}

}  // namespace

/// Name of a file after and before its completion.
std::string Checkpoint::final_name(const char* what) const { return name_in_run(what, state_.run) + part_; }
std::string Checkpoint::unfinished_name(const char* what) const {
  return name_in_run(what, state_.run) + suffix_;
}

fs::path Checkpoint::result() const { return folder_ / name_in_run(kResult, state_.run); }

void Checkpoint::create_folder() {
  const std::scoped_lock lock(creation_mutex_);
  if (lock_ < 0) {
    if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(folder_, errno);
    open_folder();
  }
  if (log_ == nullptr) create_log();
  if (is_created_) return;
  log_->settle();  // before unrecorded data are overwritten
  is_created_ = true;
}

/// Replaces the files of a run that ended before begin().
void Checkpoint::create_log() {
  const CheckpointFolder contents(folder_);
  if (path_exists(folder_ / kLog)) throw_write_error(folder_, kBegunError, EEXIST);
  for (const std::string& name : contents.unbegun_logs)  // throws if another process has locked it
    CheckpointLog(folder_ / name, CheckpointLog::Use::extend);
  CheckpointFolder::remove_content(folder_);
  std::error_code ignored;
  for (const std::string& name : contents.unbegun_logs) fs::remove(folder_ / name, ignored);
  log_ = std::make_unique<CheckpointLog>(folder_ / name_in_run(kLog, state_.run), CheckpointLog::Use::extend);
}

/// The log gets its name together with its first line. A log of that name without it is therefore damaged.
void Checkpoint::begin(const std::string& manifest) {
  create_folder();
  log_->begin(state_.run + " " + manifest);
  const int failed = log_->rename_to(folder_ / kLog);
  if (failed == EEXIST) {
    is_created_ = false;  // nothing in the folder belongs to this run
    throw_write_error(folder_, kBegunError, EEXIST);
  }
  if (failed != 0) throw_write_error(folder_, failed);
  state_.manifest = manifest;
}

void Checkpoint::begin_part(std::int64_t first_band, std::int64_t end_band) {
  part_ = fmt::format("-{}-{}", first_band, end_band);
}

void Checkpoint::check_run_exists() const {
  if (use_ != Use::part) return;
  if (CheckpointLog(folder_ / kLog, CheckpointLog::Use::look).beginning() != log_->beginning())
    throw_write_error(folder_,
                      "the run of this part was finished or discarded meanwhile; nothing of the part "
                      "is in the current result");
}

/// The log of the process: that of its part, or of the checkpoint.
CheckpointLog& Checkpoint::log_of_records() {
  if (use_ != Use::part) return *log_;
  if (part_log_ == nullptr) {
    check_run_exists();
    part_log_ = std::make_unique<CheckpointLog>(folder_ / unfinished_name(kPart), CheckpointLog::Use::extend);
    part_log_->begin(part_);
  }
  return *part_log_;
}

/// May begin the checkpoint early: a first band of many blocks has more samples than fit in memory.
CheckpointLog* Checkpoint::log_of_samples() {
  if (!is_begun() && manifest_) begin(manifest_());
  return is_begun() ? &log_of_records() : nullptr;
}

void Checkpoint::append(CompletedBands record) {
  samples_->write();
  std::error_code missing;
  if (use_ == Use::part && fs::exists(folder_ / unfinished_name(kSegment), missing))
    record.files.segment = final_name(kSegment);
  if (fs::exists(folder_ / unfinished_name(kRows), missing)) record.files.rows = final_name(kRows);
  log_of_records().append(record_text(record));
}

void Checkpoint::sync() {
  sync_before([this, count = log_->count()] { log_->sync(count); });
}

/// Calls `write_entry` after the data that the entry describes are on the disk.
void Checkpoint::sync_before(const std::function<void()>& write_entry) try {
  for (const fs::path& data_path : {result(), folder_ / unfinished_name(kRows)})
    if (path_exists(data_path)) sync_content(data_path);
  sync_names(folder_);
  sync_names(folder_of(folder_));
  write_entry();
} catch (const IoError&) {
  log_->lose();
  throw;
}

void Checkpoint::finish_part() {
  std::error_code missing;
  const bool has_segment = fs::exists(folder_ / unfinished_name(kSegment), missing);
  if (!has_segment && fs::exists(result(), missing)) sync_content(result());
  for (const char* const what : {kSegment, kRows}) {
    const fs::path written = folder_ / unfinished_name(what);
    if (!fs::exists(written, missing)) continue;
    sync_content(written);
    rename_within(folder_, unfinished_name(what), final_name(what));
  }
  CheckpointLog& log = log_of_records();
  log.sync(log.count());
  check_run_exists();
  rename_within(folder_, unfinished_name(kPart), final_name(kPart));
  sync_names(folder_);
}

fs::path Checkpoint::place(bool per_part) {
  if (use_ != Use::part) create_folder();
  check_run_exists();
  return per_part && use_ == Use::part ? folder_ / unfinished_name(kSegment) : result();
}

void Checkpoint::expect(std::int64_t bytes) noexcept { samples_->expect(bytes); }

void Checkpoint::sample(bool per_part, std::int64_t offset, std::span<const std::byte> bytes) {
  samples_->add_stream(
      per_part && use_ == Use::part ? final_name(kSegment) : name_in_run(kResult, state_.run), offset, bytes);
}

void Checkpoint::sample_file(const std::string& name, std::int64_t offset, std::span<const std::byte> bytes,
                             std::optional<std::int64_t> file_bytes) {
  samples_->add(fmt::format("{}/{}", name_in_run(kResult, state_.run), name), offset, bytes, file_bytes);
}

std::int64_t Checkpoint::keep(std::span<const std::byte> rows) {
  if (rows_ < 0) open_rows();
  const std::int64_t offset = rows_end_;
  if (const int failed = write_fully(rows_, offset, rows); failed != 0)
    throw_write_error(folder_ / unfinished_name(kRows), failed);
  rows_end_ += std::ssize(rows);
  samples_->add(final_name(kRows), offset, rows);
  samples_->add_by_stride(final_name(kRows), offset, rows);
  return offset;
}

/// Rows are appended to those of previous runs.
void Checkpoint::open_rows() {
  if (use_ != Use::part) create_folder();
  const fs::path path = folder_ / unfinished_name(kRows);
  // O_NONBLOCK: a pipe with this name would block.
  rows_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  struct stat status {};
  if (rows_ < 0 || fstat(rows_, &status) != 0) throw_write_error(path, errno);
  if (!S_ISREG(status.st_mode))
    throw_write_error(path, "it is not a regular file; discard the partial result");
  rows_end_ = status.st_size;
}

/// The state can be derived from the names at any moment: `result` is always the new result, and `replaced`
/// is the previous target. The log is marked complete before `result` is renamed.
void Checkpoint::commit(bool replaces) {
  sync_before([this] {
    std::error_code is_folder;
    const std::uintmax_t bytes = fs::file_size(result(), is_folder);
    log_->complete(is_folder ? -1 : static_cast<std::int64_t>(bytes));
  });
  rename_result(replaces);
  sync_names(folder_of(folder_));
  sync_names(folder_);
  remove();
}

void Checkpoint::rename_result(bool replaces) {
  const fs::path replaced = folder_ / kReplaced;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(result(), ignored);
  if (replaces && is_folder && path_exists(name_)) {
    fs::remove_all(replaced, ignored);
    if (rename(name_.c_str(), replaced.c_str()) != 0) throw_write_error(name_, errno);
  }
  const int error = !replaces || is_folder                         ? rename_noreplace(result(), name_)
                    : rename(result().c_str(), name_.c_str()) == 0 ? 0
                                                                   : errno;
  if (error == 0) return;
  restore_replaced();
  if (use_ == Use::all_parts && !replaces) check_name_is_free();
  throw_write_error(name_, error);
}

/// Restores the previous target if a process was killed before the rename, or if the state is unknown.
void Checkpoint::restore_replaced() const noexcept {
  const bool is_known = log_ && !log_->beginning().empty();
  if (!is_known || path_exists(result())) rename_noreplace(folder_ / kReplaced, name_);
}

}  // namespace sepconv
