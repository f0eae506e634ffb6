#include "io/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_log.hpp"
#include "io/checkpoint_names.hpp"
#include "io/checkpoint_record.hpp"
#include "io/checkpoint_samples.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"
#include "io/row_spill_file.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace partial_names;

constexpr const char* kBegunError = "another process has begun it meanwhile; resume it, or discard it";
constexpr const char* kLockedError = "another process is working on it; wait until it has ended";

void rename_within(const fs::path& folder, const std::string& from, const std::string& to) {
  if (rename((folder / from).c_str(), (folder / to).c_str()) != 0) throw_write_error(folder, errno);
}

}  // namespace

fs::path Checkpoint::checkpoint_folder_of(const fs::path& target) {
  return resolve_links(without_slash(target)).native() + kFolderSuffix;
}

bool Checkpoint::is_there(const fs::path& target) {
  return PartialFolder(checkpoint_folder_of(target)).is_checkpoint();
}

bool Checkpoint::discard(const fs::path& target, const std::string& run) {
  if (!path_exists(checkpoint_folder_of(target))) return true;
  Checkpoint checkpoint(target, Use::none);
  if (!run.empty() && run != checkpoint.run_) return false;
  const PartialFolder contents(checkpoint.folder_);
  if (!contents.foreign_names.empty())
    throw_write_error(checkpoint.folder_, contents.discard_error(), EEXIST);
  checkpoint.restore_replaced();
  if (!checkpoint.remove())
    throw_write_error(checkpoint.folder_, "not all of it could be removed; remove it yourself");
  return true;
}

Checkpoint::Checkpoint(const fs::path& target, Use use)
    : name_(resolve_links(without_slash(target))),
      folder_(checkpoint_folder_of(target)),
      use_(use),
      run_(draw_run_id()),
      samples_(std::make_unique<PartialSamples>([this] { return journal_of_samples(); })) {
  if (use == Use::part) suffix_ = temporary_name("part").extension();
  if (!path_exists(folder_)) return;
  try {
    open_existing();
  } catch (...) {
    close_folder();  // the destructor does not run if the constructor throws
    throw;
  }
}

void Checkpoint::open_existing() {
  open_folder();
  const PartialFolder contents(folder_);
  if (!contents.is_empty() && !contents.is_checkpoint())
    throw_write_error(folder_, contents.not_a_checkpoint_error(), EEXIST);
  if (!contents.is_empty() && !contents.is_not_begun()) open_journal();
}

/// Removes a checkpoint that was not begun, as it cannot be resumed.
Checkpoint::~Checkpoint() {
  if (is_created_ && beginning_.empty()) remove();
  close_folder();
}

void Checkpoint::close_folder() noexcept {
  if (lock_ >= 0) close(std::exchange(lock_, -1));
}

void Checkpoint::open_folder() {
  // O_NOFOLLOW: another user may have placed a symbolic link that leads elsewhere.
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (lock_ < 0 && errno == ENOTDIR && !fs::is_symlink(folder_))
    throw_write_error(folder_, PartialFolder(folder_).not_a_checkpoint_error(), EEXIST);
  if (lock_ < 0) throw_write_error(folder_, fs::is_symlink(folder_) ? ELOOP : errno);
  if (flock(lock_, (use_ == Use::part ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_write_error(folder_, kLockedError, EWOULDBLOCK);
  // If the folder was removed before it was locked, another folder, which is not locked, may have its name.
  struct stat locked {
  }, current{};
  if (fstat(lock_, &locked) != 0 || lstat(folder_.c_str(), &current) != 0 ||
      locked.st_dev != current.st_dev || locked.st_ino != current.st_ino)
    throw_write_error(folder_, kLockedError, EWOULDBLOCK);
}

void Checkpoint::create_folder() {
  const std::scoped_lock lock(creation_mutex_);
  if (lock_ < 0) {
    if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(folder_, errno);
    open_folder();
  }
  if (journal_ == nullptr) create_journal();
  if (is_created_) return;
  journal_->settle();  // before unrecorded data are overwritten
  is_created_ = true;
}

/// Replaces the files of a run that ended before begin().
void Checkpoint::create_journal() {
  const PartialFolder contents(folder_);
  if (path_exists(folder_ / kJournal)) throw_write_error(folder_, kBegunError, EEXIST);
  for (const std::string& name : contents.unbegun_journals)  // throws if another process has locked it
    CheckpointLog(folder_ / name, CheckpointLog::Use::extend);
  remove_content();
  std::error_code ignored;
  for (const std::string& name : contents.unbegun_journals) fs::remove(folder_ / name, ignored);
  journal_ =
      std::make_unique<CheckpointLog>(folder_ / name_in_run(kJournal, run_), CheckpointLog::Use::extend);
}

/// The journal gets its name together with its first line. A journal of that name without it is therefore
/// damaged.
void Checkpoint::begin(const std::string& text) {
  create_folder();
  journal_->begin(run_ + " " + text);
  if (const int failed = journal_->rename_to(folder_ / kJournal); failed == EEXIST) {
    is_created_ = false;  // nothing in the folder belongs to this run
    throw_write_error(folder_, kBegunError, EEXIST);
  } else if (failed != 0) {
    throw_write_error(folder_, failed);
  }
  beginning_ = text;
}

/// May begin the checkpoint early: a first band of many blocks has more samples than fit in memory.
CheckpointLog* Checkpoint::journal_of_samples() {
  if (beginning_.empty() && begin_text_) begin(begin_text_());
  return beginning_.empty() ? nullptr : &journal();
}

void Checkpoint::begin_part(std::int64_t first_band, std::int64_t end_band) {
  part_ = fmt::format("-{}-{}", first_band, end_band);
}

/// Name of a file after and before its completion.
std::string Checkpoint::final_name(const char* what) const { return name_in_run(what, run_) + part_; }
std::string Checkpoint::unfinished_name(const char* what) const { return name_in_run(what, run_) + suffix_; }

fs::path Checkpoint::result() const { return folder_ / name_in_run(kResult, run_); }

void Checkpoint::check_run_exists() const {
  if (use_ != Use::part) return;
  if (CheckpointLog(folder_ / kJournal, CheckpointLog::Use::look).beginning() != journal_->beginning())
    throw_write_error(folder_,
                      "the run of this part was finished or discarded meanwhile; nothing of the part "
                      "is in the current result");
}

CheckpointLog& Checkpoint::journal() {
  if (use_ != Use::part) return *journal_;
  if (part_journal_ == nullptr) {
    check_run_exists();
    part_journal_ =
        std::make_unique<CheckpointLog>(folder_ / unfinished_name(kPart), CheckpointLog::Use::extend);
    part_journal_->begin(part_);
  }
  return *part_journal_;
}

void Checkpoint::append(CompletedBands record) {
  samples_->record();
  std::error_code missing;
  if (use_ == Use::part && fs::exists(folder_ / unfinished_name(kSegment), missing))
    record.files.segment = final_name(kSegment);
  if (fs::exists(folder_ / unfinished_name(kRows), missing)) record.files.rows = final_name(kRows);
  journal().append(record_text(record));
}

void Checkpoint::sync() {
  sync_before([this, count = journal_->count()] { journal_->sync(count); });
}

/// Calls `write_entry` after the data that the entry describes are on the disk.
void Checkpoint::sync_before(const std::function<void()>& write_entry) try {
  for (const fs::path& data_path : {result(), folder_ / unfinished_name(kRows)})
    if (path_exists(data_path)) sync_content(data_path);
  sync_names(folder_);
  sync_names(folder_of(folder_));
  write_entry();
} catch (const IoError&) {
  journal_->lose();
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
  journal().sync(journal().count());
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
  samples_->add_stream(per_part && use_ == Use::part ? final_name(kSegment) : name_in_run(kResult, run_),
                       offset, bytes);
}

void Checkpoint::sample(const std::string& name, std::span<const std::byte> bytes, std::int64_t offset) {
  samples_->add(fmt::format("{}/{}", name_in_run(kResult, run_), name), offset, bytes);
}

void Checkpoint::sample_whole(const std::string& name, std::int64_t file_bytes,
                              std::span<const std::byte> bytes) {
  samples_->add_whole(fmt::format("{}/{}", name_in_run(kResult, run_), name), file_bytes, bytes);
}

std::int64_t Checkpoint::keep(std::span<const std::byte> rows) {
  if (rows_ == nullptr) {
    if (use_ != Use::part) create_folder();
    rows_ = std::make_unique<RowSpillFile>(folder_ / unfinished_name(kRows));
  }
  const std::int64_t offset = rows_->add(rows);
  samples_->add(final_name(kRows), offset, rows);
  samples_->add_by_stride(final_name(kRows), offset, rows);
  return offset;
}

}  // namespace sepconv
