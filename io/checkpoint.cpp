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

constexpr const char* kBegun = "another process has begun it meanwhile; go on with it, or discard it";
constexpr const char* kAtWork = "another process is at work on it; wait until it has ended";

void rename_within(const fs::path& folder, const std::string& from, const std::string& to) {
  if (rename((folder / from).c_str(), (folder / to).c_str()) != 0) throw_write_error(folder, errno);
}

}  // namespace

fs::path Checkpoint::folder_of_target(const fs::path& target) {
  return behind_links(without_slash(target)).native() + kEnding;
}

bool Checkpoint::is_there(const fs::path& target) { return PartialFolder(folder_of_target(target)).is_own(); }

bool Checkpoint::discard(const fs::path& target, const std::string& run) {
  if (!is_there_at(folder_of_target(target))) return true;
  Checkpoint held(target, Use::none);
  if (!run.empty() && run != held.run_) return false;
  const PartialFolder there(held.folder_);
  if (!there.others.empty()) throw_write_error(held.folder_, there.why_not_discarded(), EEXIST);
  held.put_back();
  if (!held.remove()) throw_write_error(held.folder_, "not all of it could be removed; remove it yourself");
  return true;
}

Checkpoint::Checkpoint(const fs::path& target, Use use)
    : name_(behind_links(without_slash(target))),
      folder_(folder_of_target(target)),
      use_(use),
      run_(new_run()),
      samples_(std::make_unique<PartialSamples>([this] { return journal_of_samples(); })) {
  if (use == Use::part) suffix_ = temporary_name("part").extension();
  if (!is_there_at(folder_)) return;
  try {
    open_existing();
  } catch (...) {
    close_folder();  // there is no destructor of what is not made
    throw;
  }
}

void Checkpoint::open_existing() {
  open_folder();
  const PartialFolder there(folder_);
  if (!there.is_empty() && !there.is_own()) throw_write_error(folder_, there.why_not_own(), EEXIST);
  if (!there.is_empty() && !there.is_not_begun()) open_journal();
}

/// For what has not begun nothing is kept: nobody would continue with it.
Checkpoint::~Checkpoint() {
  if (is_made_ && beginning_.empty()) remove();
  close_folder();
}

void Checkpoint::close_folder() noexcept {
  if (lock_ >= 0) close(std::exchange(lock_, -1));
}

void Checkpoint::open_folder() {
  // With O_NOFOLLOW a link to a folder is none. Others may have made what is there, and nothing that they put
  // there is to lead elsewhere.
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (lock_ < 0 && errno == ENOTDIR && !fs::is_symlink(folder_))
    throw_write_error(folder_, PartialFolder(folder_).why_not_own(), EEXIST);
  if (lock_ < 0) throw_write_error(folder_, fs::is_symlink(folder_) ? ELOOP : errno);
  if (flock(lock_, (use_ == Use::part ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_write_error(folder_, kAtWork, EWOULDBLOCK);
  // One that was removed before it was locked may have another in its place, which this does not hold.
  struct stat held {
  }, there{};
  if (fstat(lock_, &held) != 0 || lstat(folder_.c_str(), &there) != 0 || held.st_dev != there.st_dev ||
      held.st_ino != there.st_ino)
    throw_write_error(folder_, kAtWork, EWOULDBLOCK);
}

void Checkpoint::make_folder() {
  const std::scoped_lock lock(making_);
  if (lock_ < 0) {
    if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(folder_, errno);
    open_folder();
  }
  if (journal_ == nullptr) make_journal();
  if (is_made_) return;
  journal_->settle();  // before anything of what is not done is written over
  is_made_ = true;
}

/// In the place of what a run left that had not begun.
void Checkpoint::make_journal() {
  const PartialFolder there(folder_);
  if (is_there_at(folder_ / kJournal)) throw_write_error(folder_, kBegun, EEXIST);
  for (const std::string& one : there.beginnings)  // throws where another process has locked it
    CheckpointLog(folder_ / one, CheckpointLog::Use::extend);
  remove_content();
  std::error_code ignored;
  for (const std::string& one : there.beginnings) fs::remove(folder_ / one, ignored);
  journal_ = std::make_unique<CheckpointLog>(folder_ / of_run(kJournal, run_), CheckpointLog::Use::extend);
}

/// Whatever a journal of its name has lost is damage, as that has its first line from when it is there.
void Checkpoint::begin(const std::string& text) {
  make_folder();
  journal_->begin(run_ + " " + text);
  if (const int failed = journal_->take_name(folder_ / kJournal); failed == EEXIST) {
    is_made_ = false;  // nothing there is this run's to remove
    throw_write_error(folder_, kBegun, EEXIST);
  } else if (failed != 0) {
    throw_write_error(folder_, failed);
  }
  beginning_ = text;
}

/// For many blocks in the first band there are more samples than are held.
CheckpointLog* Checkpoint::journal_of_samples() {
  if (beginning_.empty() && upcoming_) begin(upcoming_());
  return beginning_.empty() ? nullptr : &journal();
}

void Checkpoint::begin_part(std::int64_t first_band, std::int64_t end_band) {
  part_ = fmt::format("-{}-{}", first_band, end_band);
}

/// A file's name once it is complete, and until then.
std::string Checkpoint::named(const char* what) const { return of_run(what, run_) + part_; }
std::string Checkpoint::written_as(const char* what) const { return of_run(what, run_) + suffix_; }

fs::path Checkpoint::result() const { return folder_ / of_run(kResult, run_); }

void Checkpoint::check_is_of_run() const {
  if (use_ != Use::part) return;
  if (CheckpointLog(folder_ / kJournal, CheckpointLog::Use::look).beginning() != journal_->beginning())
    throw_write_error(folder_,
                      "what this part belongs to was finished or discarded while it was made; nothing of it "
                      "is in what is there now");
}

CheckpointLog& Checkpoint::journal() {
  if (use_ != Use::part) return *journal_;
  if (part_journal_ == nullptr) {
    check_is_of_run();
    part_journal_ = std::make_unique<CheckpointLog>(folder_ / written_as(kPart), CheckpointLog::Use::extend);
    part_journal_->begin(part_);
  }
  return *part_journal_;
}

void Checkpoint::append(CompletedBands record) {
  samples_->record();
  std::error_code missing;
  if (use_ == Use::part && fs::exists(folder_ / written_as(kSegment), missing))
    record.files.segment = named(kSegment);
  if (fs::exists(folder_ / written_as(kRows), missing)) record.files.rows = named(kRows);
  journal().append(record_text(record));
}

void Checkpoint::sync() {
  sync_then([this, count = journal_->count()] { journal_->sync(count); });
}

/// Says so in the journal when what it speaks of is on the disk.
void Checkpoint::sync_then(const std::function<void()>& say) try {
  for (const fs::path& made : {result(), folder_ / written_as(kRows)})
    if (is_there_at(made)) sync_content(made);
  sync_names(folder_);
  sync_names(folder_of(folder_));
  say();
} catch (const IoError&) {
  journal_->lose();
  throw;
}

void Checkpoint::finish_part() {
  std::error_code missing;
  const bool is_own = fs::exists(folder_ / written_as(kSegment), missing);
  if (!is_own && fs::exists(result(), missing)) sync_content(result());
  for (const char* const what : {kSegment, kRows}) {
    const fs::path written = folder_ / written_as(what);
    if (!fs::exists(written, missing)) continue;
    sync_content(written);
    rename_within(folder_, written_as(what), named(what));
  }
  journal().sync(journal().count());
  check_is_of_run();
  rename_within(folder_, written_as(kPart), named(kPart));
  sync_names(folder_);
}

fs::path Checkpoint::place(bool own) {
  if (use_ != Use::part) make_folder();
  check_is_of_run();
  return own && use_ == Use::part ? folder_ / written_as(kSegment) : result();
}

void Checkpoint::expect(std::int64_t bytes) noexcept { samples_->expect(bytes); }

void Checkpoint::sample(bool own, std::int64_t offset, std::span<const std::byte> bytes) {
  samples_->add_growing(own && use_ == Use::part ? named(kSegment) : of_run(kResult, run_), offset, bytes);
}

void Checkpoint::sample(const std::string& name, std::span<const std::byte> bytes, std::int64_t offset) {
  samples_->add(fmt::format("{}/{}", of_run(kResult, run_), name), offset, bytes);
}

void Checkpoint::sample_whole(const std::string& name, std::int64_t file_bytes,
                              std::span<const std::byte> bytes) {
  samples_->add_whole(fmt::format("{}/{}", of_run(kResult, run_), name), file_bytes, bytes);
}

std::int64_t Checkpoint::keep(std::span<const std::byte> rows) {
  if (rows_ == nullptr) {
    if (use_ != Use::part) make_folder();
    rows_ = std::make_unique<RowSpillFile>(folder_ / written_as(kRows));
  }
  const std::int64_t offset = rows_->add(rows);
  samples_->add(named(kRows), offset, rows);
  samples_->add_by_stride(named(kRows), offset, rows);
  return offset;
}

}  // namespace sepconv
