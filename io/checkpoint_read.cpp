// Reads checkpoints: their journals, verified by the samples in them.
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

/// The first line of a journal: the run id and the job. A line without a run id is from another version.
struct Beginning {
  std::string run{}, text{};

  explicit Beginning(const std::string& line) : text(line) {
    if (line.find_first_not_of("0123456789abcdef") != kRunDigits || line[kRunDigits] != ' ') return;
    run = line.substr(0, kRunDigits);
    text.erase(0, kRunDigits + 1);
  }
};

/// Whether a complete result was renamed to its target: the journal says complete, and the result is not in
/// the folder.
bool is_result_renamed(const fs::path& folder, const CheckpointLog& journal) {
  return journal.is_complete() &&
         !path_exists(folder / name_in_run(kResult, Beginning(journal.beginning()).run));
}

/// Throws if a component of the path is a symbolic link, or is not of the expected kind. Recomputed data
/// would be written through a link and cannot replace a folder.
void check_path_components(const fs::path& folder, const fs::path& file) {
  fs::path path = folder;
  for (const fs::path& name : file) {
    path /= name;
    std::error_code missing;
    const fs::file_status status = fs::symlink_status(path, missing);
    if (!fs::exists(status)) return;
    const bool is_last = path == folder / file;
    if (is_last ? fs::is_regular_file(status) : fs::is_directory(status)) continue;
    throw_read_error(
        path, fmt::format("found {} where a result file is expected; remove it, and that is computed again",
                          fs::is_symlink(status) ? "a symbolic link" : "something else"));
  }
}

}  // namespace

Checkpoint::Seen Checkpoint::look(const fs::path& target) {
  const PartialFolder contents(checkpoint_folder_of(target));
  if (!contents.is_checkpoint() || contents.is_not_begun()) return {};
  const CheckpointLog journal(contents.path / kJournal, CheckpointLog::Use::look);
  const Beginning beginning(journal.beginning());
  return {beginning.text, beginning.run, journal.beginning().empty(),
          is_result_renamed(contents.path, journal)};
}

/// Opens the journal of a checkpoint that was begun.
void Checkpoint::open_journal() {
  const bool is_read_only = use_ == Use::part || use_ == Use::none || !path_exists(folder_ / kJournal);
  journal_ = std::make_unique<CheckpointLog>(
      folder_ / kJournal, is_read_only ? CheckpointLog::Use::look : CheckpointLog::Use::extend);
  const bool is_damaged = journal_->beginning().empty();
  if (use_ != Use::none && is_damaged)
    throw_read_error(folder_, "the first line of its journal is damaged or gone; discard it");
  if (is_damaged) return;
  const Beginning beginning(journal_->beginning());
  run_ = beginning.run;
  if (use_ == Use::none) return;
  beginning_ = beginning.text;
  is_committed_ = is_result_renamed(folder_, *journal_);
  if (is_committed_) return check_committed_result();
  if (use_ == Use::part) return;
  restore_replaced();
  if (use_ == Use::alone) read_journal();
  if (use_ == Use::all_parts)
    lost_ = read_parts([this](const Sample& sample) { return has_valid_sample(sample); });
}

bool Checkpoint::is_cut_short() const noexcept { return journal_ && journal_->is_cut_short(); }

void Checkpoint::check_committed_result() {
  is_named_ = target_matches_samples();
  records_.clear();
  if (use_ != Use::part) return;
  check_is_named();
  throw_write_error(name_, "it is complete, and the next run removes what is left of its checkpoint");
}

void Checkpoint::check_run_id(const std::string& run) const {
  if (!run.empty() && run != run_)
    throw_read_error(folder_,
                     "it is of another run, and is left alone: what was begun was finished or discarded by "
                     "another process meanwhile",
                     ESTALE);
}

void Checkpoint::check_is_named() const {
  if (!is_named_)
    throw_read_error(
        name_,
        fmt::format("it was complete according to {}, and does not exist any more, or is another "
                    "file; discard that, and compute it again",
                    folder_.native()),
        ENOENT);
}

bool Checkpoint::has_valid_sample(const Sample& sample) const {
  check_path_components(folder_, sample.file);
  const fs::path file = folder_ / sample.file;
  return has_sample(file, sample) || (!sample.is_whole && has_sample(file.native() + ".part", sample));
}

/// Whether the target is the recorded result. At least one sample of it must be recorded.
bool Checkpoint::target_matches_samples() {
  std::error_code missing;
  const std::int64_t bytes = journal_->complete_bytes();
  if (bytes >= 0 && !std::cmp_equal(fs::file_size(name_, missing), bytes)) return false;
  std::int64_t sample_count = 0;
  const std::string result_name = name_in_run(kResult, run_), segment_name = name_in_run(kSegment, run_);
  const auto is_valid = [&](const Sample& sample) {
    const bool of_result = sample.file.starts_with(result_name),
               of_segment = sample.file.starts_with(segment_name);
    sample_count += of_result || of_segment;
    if (of_result) return has_sample(name_.native() + sample.file.substr(result_name.size()), sample);
    return true;  // blocks of a segment have other offsets in the result
  };
  return read_records(*journal_, is_valid) + read_parts(is_valid) == 0 && sample_count > 0;
}

/// Reads records until one is damaged or has a wrong sample. Returns the number of the others.
std::int64_t Checkpoint::read_records(CheckpointLog& journal,
                                      const std::function<bool(const Sample&)>& is_valid) {
  bool is_whole = true;
  std::int64_t read_count = 0;
  journal.read([&](CheckpointLog::Line line, std::string_view text) {
    if (line == CheckpointLog::Line::samples) {
      const std::optional<std::vector<Sample>> samples = parse_samples(text);
      is_whole = samples && std::ranges::all_of(*samples, is_valid);
      return is_whole;
    }
    std::optional<CompletedBands> record = parse_record(text);
    if (!record) return false;
    for (fs::path* const name : {&record->files.segment, &record->files.rows})
      if (!name->empty()) *name = folder_ / *name;
    records_.push_back(std::move(*record));
    ++read_count;
    return true;
  });
  return journal.count() - read_count;
}

void Checkpoint::read_journal() {
  lost_ = read_records(*journal_, [this](const Sample& sample) { return has_valid_sample(sample); });
  if (lost_ > 0) journal_->keep_first_records(std::ssize(records_));
}

/// Returns the number of unreadable records of all parts.
std::int64_t Checkpoint::read_parts(const std::function<bool(const Sample&)>& is_valid) {
  std::int64_t lost = 0;
  std::error_code failed;
  fs::directory_iterator entry(folder_, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (!name.starts_with(name_in_run(kPart, run_) + "-") || name.find('.') != name.npos) continue;
    CheckpointLog part(entry->path(), CheckpointLog::Use::look);
    lost += part.count() == 0 ? 1 : read_records(part, is_valid);
  }
  if (failed) throw_read_error(folder_, failed.value());
  return lost;
}

}  // namespace sepconv
