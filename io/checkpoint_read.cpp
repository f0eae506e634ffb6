// What there is of a partial result, as its journals say, and as the samples in them prove.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "io/checkpoint.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_log.hpp"
#include "io/checkpoint_names.hpp"
#include "io/checkpoint_record.hpp"
#include "io/checkpoint_samples.hpp"
#include "io/file_errors.hpp"
#include "io/row_spill_file.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace partial_names;

/// The first line of a journal: the run, and what its result is made of. Without a run it is another
/// version's.
struct Beginning {
  std::string run{}, text{};

  explicit Beginning(const std::string& line) : text(line) {
    if (line.find_first_not_of("0123456789abcdef") != kRunDigits || line[kRunDigits] != ' ') return;
    run = line.substr(0, kRunDigits);
    text.erase(0, kRunDigits + 1);
  }
};

/// For a journal that says complete: the result stays until it has its name.
bool says_committed(const fs::path& folder, const CheckpointLog& journal) {
  return journal.is_complete() && !is_there_at(folder / of_run(kResult, Beginning(journal.beginning()).run));
}

/// What is made again would be written through a link, or cannot replace a folder.
void check_leads_nowhere(const fs::path& folder, const fs::path& file) {
  fs::path at = folder;
  for (const fs::path& name : file) {
    at /= name;
    std::error_code missing;
    const fs::file_status there = fs::symlink_status(at, missing);
    if (!fs::exists(there)) return;
    const bool is_last = at == folder / file;
    if (is_last ? fs::is_regular_file(there) : fs::is_directory(there)) continue;
    throw_read_error(
        at, fmt::format("found {} where a result file is expected; remove it, and that is computed again",
                        fs::is_symlink(there) ? "a symbolic link" : "something else"));
  }
}

}  // namespace

Checkpoint::Seen Checkpoint::look(const fs::path& target) {
  const PartialFolder there(folder_of_target(target));
  if (!there.is_own() || there.is_not_begun()) return {};
  const CheckpointLog journal(there.path / kJournal, CheckpointLog::Use::look);
  const Beginning begun(journal.beginning());
  return {begun.text, begun.run, journal.beginning().empty(), says_committed(there.path, journal)};
}

/// For one that has begun.
void Checkpoint::open_journal() {
  const bool looks = use_ == Use::part || use_ == Use::none || !is_there_at(folder_ / kJournal);
  journal_ = std::make_unique<CheckpointLog>(folder_ / kJournal,
                                             looks ? CheckpointLog::Use::look : CheckpointLog::Use::extend);
  const bool is_damaged = journal_->beginning().empty();
  if (use_ != Use::none && is_damaged)
    throw_read_error(folder_, "the first line of its journal is damaged or gone; discard it");
  if (is_damaged) return;
  const Beginning begun(journal_->beginning());
  run_ = begun.run;
  if (use_ == Use::none) return;
  beginning_ = begun.text;
  is_committed_ = says_committed(folder_, *journal_);
  if (is_committed_) return look_for_its_name();
  if (use_ == Use::part) return;
  put_back();
  if (use_ == Use::alone) read_journal();
  if (use_ == Use::all_parts)
    lost_ = read_parts([this](const Sample& sample) { return has_sample_of(sample); });
}

bool Checkpoint::is_cut_short() const noexcept { return journal_ && journal_->is_cut_short(); }

void Checkpoint::look_for_its_name() {
  is_named_ = is_under_its_name();
  records_.clear();
  if (use_ != Use::part) return;
  check_is_named();
  throw_write_error(name_, "it is complete, and what was left of making it goes with the next run");
}

void Checkpoint::check_is_of(const std::string& run) const {
  if (!run.empty() && run != run_)
    throw_read_error(folder_,
                     "it is of another run, and is left alone: what was begun was finished or discarded by "
                     "another process meanwhile",
                     ESTALE);
}

void Checkpoint::check_is_named() const {
  if (!is_named_)
    throw_read_error(name_,
                     fmt::format("it was complete, as {} says, and is not there any more, or is another "
                                 "file; discard that, and make it anew",
                                 folder_.native()),
                     ENOENT);
}

bool Checkpoint::has_sample_of(const Sample& sample) const {
  check_leads_nowhere(folder_, sample.file);
  const fs::path file = folder_ / sample.file;
  return has_sample(file, sample) || (!sample.is_whole && has_sample(file.native() + ".part", sample));
}

/// Whether what lies under the name is the result that is recorded, of which at least something is.
bool Checkpoint::is_under_its_name() {
  std::error_code missing;
  const std::int64_t bytes = journal_->complete_bytes();
  if (bytes >= 0 && !std::cmp_equal(fs::file_size(name_, missing), bytes)) return false;
  std::int64_t seen = 0;
  const std::string made = of_run(kResult, run_), segment = of_run(kSegment, run_);
  const auto is_there = [&](const Sample& sample) {
    const bool of_result = sample.file.starts_with(made), of_segment = sample.file.starts_with(segment);
    seen += of_result || of_segment;
    if (of_result) return has_sample(name_.native() + sample.file.substr(made.size()), sample);
    return true;  // blocks of a segment lie elsewhere in the result
  };
  return read_records(*journal_, is_there) + read_parts(is_there) == 0 && seen > 0;
}

/// How many are not whole, of which the first ends those that are taken.
std::int64_t Checkpoint::read_records(CheckpointLog& journal,
                                      const std::function<bool(const Sample&)>& is_there) {
  bool is_whole = true;
  std::int64_t taken = 0;
  journal.read([&](CheckpointLog::Line line, std::string_view text) {
    if (line == CheckpointLog::Line::samples) {
      const std::optional<std::vector<Sample>> samples = parse_samples(text);
      is_whole = samples && std::ranges::all_of(*samples, is_there);
      return is_whole;
    }
    std::optional<CompletedBands> record = parse_record(text);
    if (!record) return false;
    for (fs::path* const name : {&record->files.segment, &record->files.rows})
      if (!name->empty()) *name = folder_ / *name;
    records_.push_back(std::move(*record));
    ++taken;
    return true;
  });
  return journal.count() - taken;
}

void Checkpoint::read_journal() {
  lost_ = read_records(*journal_, [this](const Sample& sample) { return has_sample_of(sample); });
  if (lost_ > 0) journal_->keep_first(std::ssize(records_));
}

/// How many records of all parts are not whole.
std::int64_t Checkpoint::read_parts(const std::function<bool(const Sample&)>& is_there) {
  std::int64_t lost = 0;
  std::error_code failed;
  fs::directory_iterator entry(folder_, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (!name.starts_with(of_run(kPart, run_) + "-") || name.find('.') != name.npos) continue;
    CheckpointLog part(entry->path(), CheckpointLog::Use::look);
    lost += part.count() == 0 ? 1 : read_records(part, is_there);
  }
  if (failed) throw_read_error(folder_, failed.value());
  return lost;
}

}  // namespace sepconv
