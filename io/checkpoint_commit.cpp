// Renames a complete result to its target and removes the rest of the checkpoint.
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "io/checkpoint.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_log.hpp"
#include "io/checkpoint_log_lines.hpp"
#include "io/checkpoint_names.hpp"
#include "io/checkpoint_samples.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"
#include "io/row_spill_file.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace partial_names;

bool is_journal_of_run(std::string_view name) { return is_run_file_name(name) && name.starts_with(kJournal); }
bool is_content(std::string_view name) {
  return name == kReplaced || (is_run_file_name(name) && !name.starts_with(kJournal));
}

}  // namespace

/// The state can be derived from the names at any moment: `result` is always the new result, and `replaced`
/// is the previous target. The journal is marked complete before `result` is renamed.
void Checkpoint::commit(bool replaces) {
  sync_before([this] {
    std::error_code is_folder;
    const std::uintmax_t bytes = fs::file_size(result(), is_folder);
    journal_->complete(is_folder ? -1 : static_cast<std::int64_t>(bytes));
  });
  rename_result(replaces);
  sync_names(folder_of(folder_));
  sync_names(folder_);
  remove();
}

void Checkpoint::rename_result(bool replaces) {
  const fs::path result = this->result(), replaced = folder_ / kReplaced;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(result, ignored);
  if (replaces && is_folder && path_exists(name_)) {
    fs::remove_all(replaced, ignored);
    if (rename(name_.c_str(), replaced.c_str()) != 0) throw_write_error(name_, errno);
  }
  const int error = !replaces || is_folder                       ? rename_noreplace(result, name_)
                    : rename(result.c_str(), name_.c_str()) == 0 ? 0
                                                                 : errno;
  if (error == 0) return;
  restore_replaced();
  if (use_ == Use::all_parts && !replaces) check_name_is_free();
  throw_write_error(name_, error);
}

void Checkpoint::check_name_is_free() const {
  if (path_exists(name_))
    throw_write_error(name_, "it exists by now, and the run must not replace anything; move it away", EEXIST);
}

/// Restores the previous target if a process was killed before the rename, or if the state is unknown.
void Checkpoint::restore_replaced() const noexcept {
  const bool is_known = journal_ && !journal_->beginning().empty();
  if (!is_known || path_exists(result())) rename_noreplace(folder_ / kReplaced, name_);
}

bool Checkpoint::remove_content() const noexcept { return remove_entries(is_content); }

/// Returns false if some entries remain.
bool Checkpoint::remove_entries(bool (*is_removable)(std::string_view name)) const noexcept {
  std::error_code list_error;
  bool all_removed = true;
  fs::directory_iterator entry(folder_, list_error);
  for (; !list_error && entry != fs::directory_iterator(); entry.increment(list_error)) {
    if (!is_removable(entry->path().filename().native())) continue;
    std::error_code remove_error;
    fs::remove_all(entry->path(), remove_error);
    all_removed = all_removed && !remove_error;
  }
  return all_removed && !list_error;
}

/// Removes the journal last, because it describes the other files. Files are closed before, because network
/// file systems keep open files in the folder under another name. Files of others are kept.
bool Checkpoint::remove() noexcept {
  journal_.reset();
  rows_.reset();
  std::error_code ignored;
  const fs::path journal = folder_ / kJournal;
  bool all_removed = remove_content();
  if (all_removed && may_be_journal(journal)) fs::remove(journal, ignored);
  all_removed = all_removed && !path_exists(journal) && remove_entries(is_journal_of_run);
  if (all_removed) fs::remove(folder_, ignored);
  run_ = draw_run_id();
  beginning_.clear();
  records_.clear();
  is_created_ = is_committed_ = is_named_ = false;
  close_folder();
  return all_removed;
}

}  // namespace sepconv
