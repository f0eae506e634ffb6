#include "sepconv/io/partial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/durable.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/journal_file.hpp"
#include "sepconv/io/kept_rows.hpp"
#include "sepconv/io/partial_names.hpp"
#include "sepconv/io/partial_record.hpp"
#include "sepconv/io/partial_samples.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace partial_names;

constexpr const char* kNone = "it is there and is no partial result; move it away";

fs::path name_behind_links(const fs::path& target) {
  return behind_links(target.has_filename() ? target : target.parent_path());
}

/// Of a journal that says complete: the result stays until it has its name.
bool has_its_name(const fs::path& folder, const JournalFile& journal) {
  return journal.is_complete() && !is_there_at(folder / kResult);
}

}  // namespace

fs::path Partial::folder_of_target(const fs::path& target) {
  return name_behind_links(target).native() + ".partial";
}

bool Partial::is_there(const fs::path& target) {
  std::error_code ignored;
  return fs::is_regular_file(folder_of_target(target) / kJournal, ignored);
}

Partial::Seen Partial::look(const fs::path& target) {
  if (!is_there(target)) return {};
  const fs::path folder = folder_of_target(target);
  const JournalFile journal(folder / kJournal, JournalFile::Use::look);
  return {journal.beginning(), has_its_name(folder, journal)};
}

void Partial::discard(const fs::path& target) {
  if (!is_there(target)) return;
  Partial held(target, Use::none);
  held.put_back();
  held.remove();
  if (is_there(target)) throw_write_error(held.folder_, "it could not be removed; remove it yourself");
}

Partial::Partial(const fs::path& target, Use use)
    : name_(name_behind_links(target)),
      folder_(folder_of_target(target)),
      use_(use),
      samples_(
          std::make_unique<PartialSamples>([this] { return beginning_.empty() ? nullptr : &journal(); })) {
  if (use == Use::part) suffix_ = temporary_name("part").extension();
  if (!is_there_at(folder_)) return;
  open_folder();
  std::error_code ignored;
  const bool empty = fs::is_empty(folder_, ignored);
  if (!empty && !is_there(target)) throw_write_error(folder_, kNone, EEXIST);
  if (!empty && use != Use::none) open_journal();
}

void Partial::open_journal() {
  journal_ = std::make_unique<JournalFile>(
      folder_ / kJournal, use_ == Use::part ? JournalFile::Use::look : JournalFile::Use::extend);
  beginning_ = journal_->beginning();
  if (beginning_.empty()) return;
  if (has_its_name(folder_, *journal_)) {
    if (use_ == Use::part)
      throw_write_error(name_, "it is complete, and what was left of making it goes with the next run");
    is_named_ = use_ == Use::alone && is_under_its_name();
    return is_named_ ? void() : remove();
  }
  if (use_ == Use::part) return;
  put_back();
  if (use_ == Use::alone) read_journal();
  if (use_ == Use::all_parts) read_parts();
}

Partial::~Partial() { close_folder(); }

void Partial::close_folder() noexcept {
  if (lock_ >= 0) close(std::exchange(lock_, -1));
}

void Partial::open_folder() {
  // With O_NOFOLLOW a link to a folder is none. Others may have made what is there, and nothing that they put
  // there is to lead elsewhere.
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (lock_ < 0 && errno == ENOTDIR && !fs::is_symlink(folder_)) throw_write_error(folder_, kNone, EEXIST);
  if (lock_ < 0) throw_write_error(folder_, fs::is_symlink(folder_) ? ELOOP : errno);
  if (flock(lock_, (use_ == Use::part ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_write_error(folder_, "another process is at work on it; wait until it has ended", EWOULDBLOCK);
}

bool Partial::has_sample_of(const Sample& sample) const {
  const fs::path file = folder_ / sample.file;
  return has_sample(file, sample) || has_sample(file.native() + ".part", sample);
}

/// Whether what lies under the name is the result that is recorded, of which at least something is.
bool Partial::is_under_its_name() {
  std::int64_t seen = 0;
  const auto is_there = [&](const Sample& sample) {
    const bool of_result = sample.file.starts_with(kResult);
    seen += of_result;
    return !of_result ||
           has_sample(name_.native() + sample.file.substr(std::string_view(kResult).size()), sample);
  };
  return read_records(*journal_, is_there) == 0 && seen > 0;
}

/// How many are not whole, of which the first ends those that are taken.
std::int64_t Partial::read_records(JournalFile& journal, const std::function<bool(const Sample&)>& is_there) {
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
  lost_ = read_records(*journal_, [this](const Sample& sample) { return has_sample_of(sample); });
  if (lost_ > 0) journal_->keep_first(std::ssize(records_));
}

void Partial::read_parts() {
  const auto is_there = [this](const Sample& sample) { return has_sample_of(sample); };
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().native();
    if (!name.starts_with(fmt::format("{}-", kPart)) || name.find('.') != name.npos) continue;
    JournalFile part(entry.path(), JournalFile::Use::look);
    lost_ += part.count() == 0 ? 1 : read_records(part, is_there);
  }
}

void Partial::make_folder() {
  const std::scoped_lock lock(making_);
  if (lock_ < 0) {
    if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) throw_write_error(folder_, errno);
    open_folder();
  }
  if (journal_ == nullptr) {
    auto journal = std::make_unique<JournalFile>(folder_ / kJournal, JournalFile::Use::extend);
    if (!journal->beginning().empty())
      throw_write_error(folder_, "another process has begun it meanwhile; go on with it, or discard it",
                        EEXIST);
    journal_ = std::move(journal);
  }
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
  samples_->record();
  std::error_code missing;
  if (use_ == Use::part && fs::exists(folder_ / written_as(kSegment), missing))
    record.files.segment = named(kSegment);
  if (fs::exists(folder_ / written_as(kRows), missing)) record.files.rows = named(kRows);
  journal().append(record_text(record));
}

void Partial::sync() {
  sync_then([this, count = journal_->count()] { journal_->sync(count); });
}

/// Says so in the journal when what it speaks of is on the disk.
void Partial::sync_then(const std::function<void()>& say) try {
  for (const char* const name : {kResult, kRows})
    if (is_there_at(folder_ / name)) sync_content(folder_ / name);
  sync_names(folder_);
  sync_names(folder_of(folder_));
  say();
} catch (const IoError&) {
  journal_->lose();
  throw;
}

void Partial::finish_part() {
  std::error_code missing;
  const bool is_own = fs::exists(folder_ / written_as(kSegment), missing);
  if (!is_own && fs::exists(folder_ / kResult, missing)) sync_content(folder_ / kResult);
  for (const char* const what : {kSegment, kRows}) {
    const fs::path written = folder_ / written_as(what);
    if (!fs::exists(written, missing)) continue;
    sync_content(written);
    fs::rename(written, folder_ / named(what));
  }
  journal().sync(journal().count());
  fs::rename(folder_ / written_as(kPart), folder_ / named(kPart));
  sync_names(folder_);
}

fs::path Partial::place(bool own) {
  if (use_ != Use::part) make_folder();
  return folder_ / (own && use_ == Use::part ? written_as(kSegment) : kResult);
}

void Partial::expect(std::int64_t bytes) noexcept { samples_->expect(bytes); }

void Partial::sample(bool own, std::int64_t offset, std::span<const std::byte> bytes) {
  samples_->add_growing(own && use_ == Use::part ? named(kSegment) : kResult, offset, bytes);
}

void Partial::sample(const std::string& name, std::span<const std::byte> bytes, std::int64_t offset) {
  samples_->add(fmt::format("{}/{}", kResult, name), offset, bytes);
}

std::int64_t Partial::keep(std::span<const std::byte> rows) {
  if (rows_ == nullptr) {
    if (use_ != Use::part) make_folder();
    rows_ = std::make_unique<KeptRows>(folder_ / written_as(kRows));
  }
  const std::int64_t offset = rows_->add(rows);
  samples_->add(named(kRows), offset, rows);
  samples_->add_by_stride(named(kRows), offset, rows);
  return offset;
}

}  // namespace sepconv
