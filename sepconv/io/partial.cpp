#include "sepconv/io/partial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sepconv/core/geometry.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/crc32c.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/journal_file.hpp"
#include "sepconv/io/kept_rows.hpp"
#include "sepconv/io/partial_record.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal";
constexpr const char* kResult = "result";
constexpr const char* kSegment = "segment";
constexpr const char* kRows = "rows";
constexpr const char* kPart = "part";
/// A sample's bytes, and the bytes of the result from one to the next: of large ones there are so many.
constexpr std::int64_t kSampleBytes = 4096;
constexpr std::int64_t kLeastStride = std::int64_t{1} << 20;
constexpr std::int64_t kSamples = 16384;
/// That are in memory, of which there may be one for each of many files.
constexpr std::size_t kSamplesHeld = 1024;

/// What was written under a name, to the disk; of a folder all that its file system was given.
void sync_name(const fs::path& name) {
  const int opened = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  int failed = opened < 0 || fstat(opened, &status) != 0 ? errno : 0;
  if (failed == 0 && (S_ISDIR(status.st_mode) ? syncfs(opened) : fdatasync(opened)) != 0) failed = errno;
  if (opened >= 0) close(opened);
  if (failed != 0) throw_write_error(name, failed);
}

/// The entries of a folder, to the disk.
void sync_entries(const fs::path& folder) {
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int failed = opened < 0 || fsync(opened) != 0 ? errno : 0;
  if (opened >= 0) close(opened);
  if (failed != 0) throw_write_error(folder, failed);
}

bool has_sample(const fs::path& path, const Sample& sample) {
  std::error_code missing;
  if (sample.bytes < 0 || sample.bytes > kSampleBytes || sample.offset < 0) return false;
  if (!fs::is_regular_file(path, missing) || fs::file_size(path, missing) == 0) return false;
  std::vector<std::byte> bytes(static_cast<std::size_t>(sample.bytes));
  const InputFile file(path);
  return file.read_some_at(sample.offset, bytes) == sample.bytes && crc32c(bytes) == sample.checksum;
}

}  // namespace

fs::path Partial::folder_of_target(const fs::path& target) {
  const fs::path named = target.has_filename() ? target : target.parent_path();
  return behind_links(named).native() + ".partial";
}

bool Partial::is_there(const fs::path& target) {
  std::error_code ignored;
  return fs::is_regular_file(folder_of_target(target) / kJournal, ignored);
}

std::string Partial::beginning_of(const fs::path& target) {
  return is_there(target)
             ? JournalFile(folder_of_target(target) / kJournal, JournalFile::Use::look).beginning()
             : "";
}

void Partial::discard(const fs::path& target) {
  if (!is_there(target)) return;
  Partial held(target, Use::alone);
  held.remove();
  if (is_there(target)) throw_write_error(held.folder_, "it could not be removed; remove it yourself");
}

Partial::Partial(const fs::path& target, Use use)
    : target_(target), folder_(folder_of_target(target)), use_(use), stride_(kLeastStride) {
  if (use == Use::part) suffix_ = temporary_name("part").extension();
  std::error_code ignored;
  if (!fs::exists(folder_, ignored)) return;
  const bool empty = fs::is_directory(folder_, ignored) && fs::is_empty(folder_, ignored);
  if (!empty && !is_there(target))
    throw_write_error(folder_, "it is there and is no partial result; move it away", EEXIST);
  open_folder();
  if (empty) return;
  journal_ = std::make_unique<JournalFile>(
      folder_ / kJournal, use == Use::part ? JournalFile::Use::look : JournalFile::Use::extend);
  beginning_ = journal_->beginning();
  if (beginning_.empty()) return;
  if (use == Use::alone) read_journal();
  if (use == Use::all_parts) read_parts();
}

Partial::~Partial() {
  if (lock_ >= 0) close(lock_);
}

void Partial::open_folder() {
  // With O_NOFOLLOW a link to a folder is none. Others may have made what is there, and nothing that they put
  // there is to lead elsewhere.
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (lock_ < 0) throw_write_error(folder_, fs::is_symlink(folder_) ? ELOOP : errno);
  if (flock(lock_, (use_ == Use::part ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_write_error(folder_, "another process is at work on it; wait until it has ended", EWOULDBLOCK);
}

/// How many are not whole, of which the first ends those that are taken.
std::int64_t Partial::read_records(JournalFile& journal) {
  const auto is_there = [this](const Sample& sample) {
    const fs::path file = folder_ / sample.file;
    return has_sample(file, sample) || has_sample(file.native() + ".part", sample);
  };
  bool is_whole = true;
  std::int64_t taken = 0;
  journal.read([&](JournalFile::Line line, std::string_view text) {
    if (line == JournalFile::Line::samples) {
      const std::optional<std::vector<Sample>> samples = parse_samples(text);
      is_whole = samples && std::ranges::all_of(*samples, is_there);
      return is_whole;
    }
    std::optional<DoneRecord> record = parse_record(text);
    if (!record) return false;
    for (fs::path* const name : {&record->files.segment, &record->files.rows})
      if (!name->empty()) *name = folder_ / *name;
    records_.push_back(std::move(*record));
    ++taken;
    return true;
  });
  return journal.count() - taken;
}

void Partial::read_journal() {
  lost_ = read_records(*journal_);
  if (lost_ == 0) return;
  journal_->keep_first(std::ssize(records_));
  if (!records_.empty()) sync();
}

void Partial::read_parts() {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().native();
    if (!name.starts_with(fmt::format("{}-", kPart)) || name.find('.') != name.npos) continue;
    JournalFile part(entry.path(), JournalFile::Use::look);
    lost_ += part.count() == 0 ? 1 : read_records(part);
  }
}

void Partial::make_folder() {
  const std::scoped_lock lock(making_);
  if (lock_ < 0) {
    if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(folder_, errno);
    open_folder();
  }
  if (journal_ == nullptr)
    journal_ = std::make_unique<JournalFile>(folder_ / kJournal, JournalFile::Use::extend);
  if (beginning_.empty() && !is_made_) {  // what a run left that had not begun
    std::error_code ignored;
    fs::remove_all(folder_ / kResult, ignored);
  }
  is_made_ = true;
}

void Partial::begin(const std::string& text) {
  make_folder();
  journal_->begin(text);
  beginning_ = text;
}

void Partial::begin_part(std::int64_t first_band, std::int64_t end_band) {
  part_ = fmt::format("-{}-{}", first_band, end_band);
}

/// A file's name once it is complete, and until then.
std::string Partial::named(const char* what) const { return what + part_; }
std::string Partial::written_as(const char* what) const { return what + suffix_; }

JournalFile& Partial::journal() {
  if (use_ != Use::part) return *journal_;
  if (part_journal_ == nullptr) {
    part_journal_ = std::make_unique<JournalFile>(folder_ / written_as(kPart), JournalFile::Use::extend);
    part_journal_->begin(part_);
  }
  return *part_journal_;
}

void Partial::append(DoneRecord record) {
  {
    const std::scoped_lock lock(sampling_);
    write_samples();
    has_samples_ = false;
  }
  std::error_code missing;
  if (use_ == Use::part && fs::exists(folder_ / written_as(kSegment), missing))
    record.files.segment = named(kSegment);
  if (fs::exists(folder_ / written_as(kRows), missing)) record.files.rows = named(kRows);
  journal().append(record_text(record));
}

void Partial::sync() {
  const std::int64_t count = journal_->count();
  std::error_code missing;
  for (const char* const name : {kResult, kRows})
    if (fs::exists(folder_ / name, missing)) sync_name(folder_ / name);
  sync_entries(folder_);
  sync_entries(sepconv::folder_of(folder_));
  journal_->sync(count);
}

void Partial::finish_part() {
  std::error_code missing;
  const bool is_own = fs::exists(folder_ / written_as(kSegment), missing);
  if (!is_own && fs::exists(folder_ / kResult, missing)) sync_name(folder_ / kResult);
  for (const char* const what : {kSegment, kRows}) {
    const fs::path written = folder_ / written_as(what);
    if (!fs::exists(written, missing)) continue;
    sync_name(written);
    fs::rename(written, folder_ / named(what));
  }
  journal().sync(journal().count());
  fs::rename(folder_ / written_as(kPart), folder_ / named(kPart));
  sync_entries(folder_);
}

fs::path Partial::place(bool own) {
  if (use_ != Use::part) make_folder();
  return folder_ / (own && use_ == Use::part ? written_as(kSegment) : kResult);
}

void Partial::expect(std::int64_t bytes) noexcept {
  stride_ = std::max(kLeastStride, round_up(bytes / kSamples, kSampleBytes));
}

void Partial::sample(bool own, std::int64_t offset, std::span<const std::byte> bytes) {
  const std::string file = own && use_ == Use::part ? named(kSegment) : kResult;
  // At least one of what is recorded at once.
  if (!bytes.empty() && !has_samples_.exchange(true)) add_sample(file, offset, bytes);
  sample_by_stride(file, offset, bytes);
}

void Partial::sample(const std::string& name, std::span<const std::byte> bytes, std::int64_t offset) {
  if (!bytes.empty()) add_sample(fmt::format("{}/{}", kResult, name), offset, bytes);
}

std::int64_t Partial::keep(std::span<const std::byte> rows) {
  if (rows_ == nullptr) {
    if (use_ != Use::part) make_folder();
    rows_ = std::make_unique<KeptRows>(folder_ / written_as(kRows));
  }
  const std::int64_t offset = rows_->add(rows);
  if (!rows.empty()) add_sample(named(kRows), offset, rows);
  sample_by_stride(named(kRows), offset, rows);
  return offset;
}

void Partial::sample_by_stride(const std::string& file, std::int64_t offset,
                               std::span<const std::byte> bytes) {
  const std::int64_t stride = stride_, end = offset + std::ssize(bytes);
  for (std::int64_t at = round_up(offset, stride); at < end; at += stride)
    add_sample(file, at, bytes.subspan(static_cast<std::size_t>(at - offset)));
}

void Partial::add_sample(std::string file, std::int64_t offset, std::span<const std::byte> bytes) {
  const auto seen = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(kSampleBytes)));
  const Sample made{std::move(file), offset, std::ssize(seen), crc32c(seen)};
  const std::scoped_lock lock(sampling_);
  samples_.push_back(made);
  if (samples_.size() >= kSamplesHeld && !beginning_.empty()) write_samples();
}

/// To be called with the lock.
void Partial::write_samples() {
  if (samples_.empty()) return;
  journal().add_samples(samples_text(samples_));
  samples_.clear();
}

fs::path Partial::result_in(const fs::path& folder) { return folder / kResult; }

void Partial::remove() noexcept {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    if (entry.path().filename() != kJournal) fs::remove_all(entry.path(), ignored);
  }
  fs::remove_all(folder_, ignored);  // the journal last: without it the folder is nobody's
  beginning_.clear();
  records_.clear();
}

}  // namespace sepconv
