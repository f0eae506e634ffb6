// Opens and inspects checkpoints, and reads their records, which the samples verify.
#include "io/checkpoint/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "io/checkpoint/folder.hpp"
#include "io/checkpoint/log.hpp"
#include "io/checkpoint/records.hpp"
#include "io/file_errors.hpp"
#include "io/temporary_file.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace checkpoint_names;

constexpr const char* kLockedError = "another process is working on it; wait until it has ended";

/// What a log states. A complete result was renamed if it is not in the folder.
CheckpointState state_in(const fs::path& folder, const CheckpointLog& log) {
  CheckpointState state{.exists = true, .manifest = log.beginning(), .is_cut_short = log.is_cut_short()};
  state.is_damaged = state.manifest.empty();
  const std::size_t digits = state.manifest.find_first_not_of(kDigits);
  if (digits == kRunDigits && state.manifest[digits] == ' ') {  // otherwise it is from another version
    state.run = state.manifest.substr(0, digits);
    state.manifest.erase(0, digits + 1);
  }
  state.is_committed = log.complete_bytes() && !path_exists(folder / name_in_run(kResult, state.run));
  return state;
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

fs::path Checkpoint::checkpoint_folder_of(const fs::path& target) {
  return resolve_links(without_slash(target)).native() + kFolderSuffix;
}

CheckpointState Checkpoint::look(const fs::path& target) {
  const CheckpointFolder folder(checkpoint_folder_of(target));
  const bool exists = folder.is_checkpoint();
  if (!exists || folder.is_not_begun()) return {.exists = exists};
  return state_in(folder.path, CheckpointLog(folder.path / kLog, CheckpointLog::Use::look));
}

bool Checkpoint::discard(const fs::path& target, const std::string& run) {
  if (!path_exists(checkpoint_folder_of(target))) return true;
  Checkpoint checkpoint(target, Use::none);
  if (!run.empty() && run != checkpoint.state_.run) return false;
  const CheckpointFolder contents(checkpoint.folder_);
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
      state_{.run = draw_run_id()},
      samples_(std::make_unique<SampleCollector>([this] { return log_of_samples(); })) {
  if (use == Use::part) suffix_ = temporary_name("part").extension();
  if (!path_exists(folder_)) return;
  try {
    open_existing();
  } catch (...) {
    close_files();  // the destructor does not run if the constructor throws
    throw;
  }
}

Checkpoint::~Checkpoint() {
  if (is_created_ && !is_begun()) remove();
  close_files();
}

void Checkpoint::close_files() noexcept {
  for (int* const file : {&rows_, &lock_})
    if (*file >= 0) close(std::exchange(*file, -1));
}

bool Checkpoint::remove() noexcept {
  // Closes files before, because network file systems keep open files in the folder under another name.
  log_.reset();
  if (rows_ >= 0) close(std::exchange(rows_, -1));
  const bool is_removed = CheckpointFolder::remove(folder_);
  state_ = {.run = draw_run_id()};
  records_.clear();
  is_created_ = false;
  close_files();
  return is_removed;
}

void Checkpoint::open_existing() {
  open_folder();
  const CheckpointFolder contents(folder_);
  if (contents.is_empty()) return;
  if (!contents.is_checkpoint()) throw_write_error(folder_, contents.not_a_checkpoint_error(), EEXIST);
  if (!contents.is_not_begun()) open_log();
}

void Checkpoint::open_folder() {
  // O_NOFOLLOW: another user may have placed a symbolic link that leads elsewhere.
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (lock_ < 0 && errno == ENOTDIR && !fs::is_symlink(folder_))
    throw_write_error(folder_, CheckpointFolder(folder_).not_a_checkpoint_error(), EEXIST);
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

/// Opens the log of a checkpoint that was begun, and reads its records.
void Checkpoint::open_log() {
  const bool is_read_only = use_ == Use::part || use_ == Use::none || !path_exists(folder_ / kLog);
  log_ = std::make_unique<CheckpointLog>(
      folder_ / kLog, is_read_only ? CheckpointLog::Use::look : CheckpointLog::Use::extend);
  CheckpointState state = state_in(folder_, *log_);
  if (use_ != Use::none && state.is_damaged)
    throw_read_error(folder_, "the first line of its journal is damaged or gone; discard it");
  if (!state.is_damaged) state_ = std::move(state);
  if (use_ == Use::none) return;
  if (state_.is_committed) {
    state_.is_named = target_matches_samples();
    records_.clear();
  }
  if (use_ == Use::part && state_.is_committed) {
    check_is_named();
    throw_write_error(name_, "it is complete, and the next run removes what is left of its checkpoint");
  }
  if (use_ == Use::part || state_.is_committed) return;
  restore_replaced();
  const auto is_valid = [this](const Sample& sample) { return has_valid_sample(sample); };
  state_.lost = use_ == Use::alone ? read_records(*log_, is_valid) : read_parts(is_valid);
  if (use_ == Use::alone && state_.lost > 0) log_->keep_first_records(std::ssize(records_));
}

void Checkpoint::check_run_id(const std::string& run) const {
  if (!run.empty() && run != state_.run)
    throw_read_error(folder_,
                     "it is of another run, and is left alone: what was begun was finished or discarded by "
                     "another process meanwhile",
                     ESTALE);
}

void Checkpoint::check_is_named() const {
  if (!state_.is_named)
    throw_read_error(
        name_,
        fmt::format("it was complete according to {}, and does not exist any more, or is another "
                    "file; discard that, and compute it again",
                    folder_.native()),
        ENOENT);
}

void Checkpoint::check_name_is_free() const {
  if (path_exists(name_))
    throw_write_error(name_, "it exists by now, and the run must not replace anything; move it away", EEXIST);
}

bool Checkpoint::has_valid_sample(const Sample& sample) const {
  check_path_components(folder_, sample.file);
  const fs::path file = folder_ / sample.file;
  return has_sample(file, sample) || (!sample.is_whole && has_sample(file.native() + ".part", sample));
}

/// Whether the target is the recorded result. At least one sample of it must be recorded, unless no record is
/// left: a process that renamed the result was killed when it had removed the logs of the parts.
bool Checkpoint::target_matches_samples() {
  std::error_code missing;
  const std::int64_t bytes = *log_->complete_bytes();
  if (bytes >= 0 && !std::cmp_equal(fs::file_size(name_, missing), bytes)) return false;
  std::int64_t sample_count = 0;
  const std::string result_name = result().filename(), segment_name = name_in_run(kSegment, state_.run);
  const auto is_valid = [&](const Sample& sample) {
    const bool of_result = sample.file.starts_with(result_name);
    sample_count += of_result || sample.file.starts_with(segment_name);
    if (of_result) return has_sample(name_.native() + sample.file.substr(result_name.size()), sample);
    return true;  // blocks of a segment have other offsets in the result
  };
  if (read_records(*log_, is_valid) + read_parts(is_valid) > 0) return false;
  return sample_count > 0 || (records_.empty() && path_exists(name_));
}

/// Reads records until one is damaged or has a wrong sample. Returns the number of the others.
std::int64_t Checkpoint::read_records(const CheckpointLog& log, const IsValid& is_valid) {
  std::int64_t read_count = 0;
  log.read([&](CheckpointLog::Line line, std::string_view text) {
    if (line == CheckpointLog::Line::samples) {
      const std::optional<std::vector<Sample>> samples = parse_samples(text);
      return samples && std::ranges::all_of(*samples, is_valid);
    }
    std::optional<CompletedBands> record = parse_record(text);
    if (!record) return false;
    for (fs::path* const name : {&record->files.segment, &record->files.rows})
      if (!name->empty()) *name = folder_ / *name;
    records_.push_back(std::move(*record));
    ++read_count;
    return true;
  });
  return log.count() - read_count;
}

/// Returns the number of unreadable records of all parts.
std::int64_t Checkpoint::read_parts(const IsValid& is_valid) {
  std::int64_t lost = 0;
  std::error_code failed;
  fs::directory_iterator entry(folder_, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (!name.starts_with(name_in_run(kPart, state_.run) + "-") || name.find('.') != name.npos) continue;
    const CheckpointLog part(entry->path(), CheckpointLog::Use::look);
    lost += part.count() == 0 ? 1 : read_records(part, is_valid);
  }
  if (failed) throw_read_error(folder_, failed.value());
  return lost;
}

}  // namespace sepconv
