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
#include "sepconv/io/partial_record.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal";
constexpr const char* kResult = "result";
/// A sample's bytes, and the bytes of the result from one to the next: of large ones there are so many.
constexpr std::int64_t kSampleBytes = 4096;
constexpr std::int64_t kLeastStride = std::int64_t{1} << 20;
constexpr std::int64_t kSamples = 16384;

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

void write_file(const fs::path& name, std::span<const std::byte> bytes) {
  OutputFile file(name, {.overwrite = true, .durable = true});
  file.write_at(0, bytes);
  file.commit();
}

std::string held_name(std::int64_t index) { return fmt::format("held-{}", index); }

/// Of a part, which has one range.
std::string bands_text(const DoneRecord& record) {
  return fmt::format("{}-{}", record.bands.at(0).first, record.bands.at(0).second);
}

bool has_sample(const fs::path& path, const Sample& sample) {
  std::error_code missing;
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
      folder_ / kJournal, use == Use::alone ? JournalFile::Use::extend : JournalFile::Use::look);
  beginning_ = journal_->beginning();
  if (use == Use::part || beginning_.empty()) return;
  read_journal();
  read_parts();
}

Partial::~Partial() {
  if (lock_ >= 0) close(lock_);
}

void Partial::open_folder() {
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw_write_error(folder_, errno);
  if (flock(lock_, (use_ == Use::alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_write_error(folder_, "another process is at work on it; wait until it has ended", EWOULDBLOCK);
}

void Partial::read_journal() {
  std::int64_t last_held = -1;
  HeldFile last;
  std::vector<std::string> texts = journal_->take_records();
  for (std::string& text : texts) {
    HeldFile held;
    std::optional<DoneRecord> record = parse_record(std::exchange(text, {}), held);
    if (!record || !is_whole(*record)) break;
    if (held.bytes > 0) last_held = std::ssize(records_), last = held;
    records_.push_back(std::move(*record));
  }
  const auto sample = Sample{last.name, 0, last.bytes, last.checksum};
  if (last_held >= 0 && has_sample(folder_ / last.name, sample)) {
    DoneRecord& record = records_[static_cast<std::size_t>(last_held)];
    record.state.held.resize(static_cast<std::size_t>(last.bytes));
    InputFile(folder_ / last.name).read_at(0, record.state.held);
  } else if (last_held >= 0) {
    records_.clear();
  }
  lost_ = std::ssize(texts) - std::ssize(records_);
  if (lost_ == 0) return;
  journal_->keep_first(records_.size());
  if (!records_.empty()) sync();
}

void Partial::read_parts() {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().native();
    if (!name.starts_with("part-") || name.find('.') != name.npos) continue;
    HeldFile none;
    std::optional<DoneRecord> record =
        parse_record(JournalFile(entry.path(), JournalFile::Use::look).beginning(), none);
    if (!record || !is_whole(*record)) {
      ++lost_;
      continue;
    }
    if (!record->segment.empty()) record->segment = folder_ / record->segment;
    records_.push_back(std::move(*record));
  }
}

bool Partial::is_whole(const DoneRecord& record) const {
  const fs::path result = folder_ / (record.segment.empty() ? fs::path(kResult) : record.segment);
  return std::ranges::all_of(record.samples, [&](const Sample& sample) {
    if (sample.name.empty()) return has_sample(result, sample);
    return has_sample(result / sample.name, sample) || has_sample(result / (sample.name + ".part"), sample);
  });
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

void Partial::append(DoneRecord record) {
  record.samples = take_samples();
  HeldFile held{held_name(journal_->count()), std::ssize(record.state.held), crc32c(record.state.held)};
  if (held.bytes > 0) write_file(folder_ / held.name, record.state.held);
  journal_->append(record_text(record, held));
}

void Partial::sync() {
  const std::int64_t count = journal_->count();
  std::error_code ignored;
  if (fs::exists(folder_ / kResult, ignored)) sync_name(folder_ / kResult);
  sync_entries(folder_);
  sync_entries(sepconv::folder_of(folder_));
  journal_->sync(count);
  for (; oldest_held_ + 1 < count; ++oldest_held_) fs::remove(folder_ / held_name(oldest_held_), ignored);
}

void Partial::finish_part(DoneRecord record) {
  const fs::path own = folder_ / ("segment" + suffix_);
  std::error_code missing;
  const bool has_segment = fs::exists(own, missing);
  const fs::path written = has_segment ? own : folder_ / kResult;
  if (fs::exists(written, missing)) sync_name(written);
  record.samples = take_samples();
  if (has_segment) {
    record.segment = "segment-" + bands_text(record);
    fs::rename(own, folder_ / record.segment);
  }
  const fs::path name = folder_ / ("part-" + bands_text(record));
  const fs::path made = name.native() + suffix_;
  JournalFile journal(made, JournalFile::Use::extend);
  journal.begin(record_text(record, {}));
  journal.sync(0);
  fs::rename(made, name);
  sync_entries(folder_);
}

fs::path Partial::place(bool own) {
  if (use_ == Use::alone) make_folder();
  return folder_ / (own && use_ == Use::part ? "segment" + suffix_ : kResult);
}

void Partial::expect(std::int64_t bytes) noexcept {
  stride_ = std::max(kLeastStride, round_up(bytes / kSamples, kSampleBytes));
}

void Partial::sample(const std::string& name, std::int64_t offset, std::span<const std::byte> bytes) {
  const std::int64_t stride = stride_;
  const auto add = [&](std::int64_t at) {
    const auto seen =
        bytes.subspan(static_cast<std::size_t>(at - offset))
            .first(static_cast<std::size_t>(std::min(kSampleBytes, offset + std::ssize(bytes) - at)));
    const Sample made{name, at, std::ssize(seen), crc32c(seen)};
    const std::scoped_lock lock(sampling_);
    samples_.push_back(made);
  };
  if (bytes.empty()) return;
  // At least one of what is recorded at once; each file of a folder, and each piece of it.
  if (!name.empty() || !has_samples_.exchange(true)) add(offset);
  if (!name.empty()) return;
  for (std::int64_t at = round_up(offset, stride); at < offset + std::ssize(bytes); at += stride) add(at);
}

std::vector<Sample> Partial::take_samples() {
  const std::scoped_lock lock(sampling_);
  has_samples_ = false;
  return std::exchange(samples_, {});
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
