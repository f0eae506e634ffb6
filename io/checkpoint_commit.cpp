// How a partial result gets its name, and how what is left of it goes.
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

bool is_of_journal(std::string_view name) { return is_name_of_run(name) && name.starts_with(kJournal); }
bool is_content(std::string_view name) {
  return name == kReplaced || (is_name_of_run(name) && !name.starts_with(kJournal));
}

}  // namespace

/// What is under each name at each moment says how far it came: `result` is always what is being made, and
/// `replaced` what had its name. The journal says that all is done before `result` goes.
void Checkpoint::commit(bool replaces) {
  sync_then([this] {
    std::error_code is_folder;
    const std::uintmax_t bytes = fs::file_size(result(), is_folder);
    journal_->complete(is_folder ? -1 : static_cast<std::int64_t>(bytes));
  });
  name_result(replaces);
  sync_names(folder_of(folder_));
  sync_names(folder_);
  remove();
}

void Checkpoint::name_result(bool replaces) {
  const fs::path result = this->result(), replaced = folder_ / kReplaced;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(result, ignored);
  if (replaces && is_folder && is_there_at(name_)) {
    fs::remove_all(replaced, ignored);
    if (rename(name_.c_str(), replaced.c_str()) != 0) throw_write_error(name_, errno);
  }
  const int failed = !replaces || is_folder                       ? rename_to_absent(result, name_)
                     : rename(result.c_str(), name_.c_str()) == 0 ? 0
                                                                  : errno;
  if (failed == 0) return;
  put_back();
  if (use_ == Use::all_parts && !replaces) check_name_is_free();
  throw_write_error(name_, failed);
}

void Checkpoint::check_name_is_free() const {
  if (is_there_at(name_))
    throw_write_error(name_, "it is there by now, and what was begun replaces nothing; move it away", EEXIST);
}

/// What had the name, where a process was killed before the result had it, or where nobody knows.
void Checkpoint::put_back() const noexcept {
  const bool is_known = journal_ && !journal_->beginning().empty();
  if (!is_known || is_there_at(result())) rename_to_absent(folder_ / kReplaced, name_);
}

bool Checkpoint::remove_content() const noexcept { return remove_names(is_content); }

/// False: some of it stays.
bool Checkpoint::remove_names(bool (*goes)(std::string_view name)) const noexcept {
  std::error_code failed;
  bool is_gone = true;
  fs::directory_iterator entry(folder_, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (!goes(entry->path().filename().native())) continue;
    std::error_code stays;
    fs::remove_all(entry->path(), stays);
    is_gone = is_gone && !stays;
  }
  return is_gone && !failed;
}

/// The journal last, and only behind the rest: it says what that is. Files are closed before: of what is
/// open, network file systems keep another name in the folder. What somebody else put there stays.
bool Checkpoint::remove() noexcept {
  journal_.reset();
  rows_.reset();
  std::error_code ignored;
  const fs::path journal = folder_ / kJournal;
  bool is_gone = remove_content();
  if (is_gone && may_be_journal(journal)) fs::remove(journal, ignored);
  is_gone = is_gone && !is_there_at(journal) && remove_names(is_of_journal);
  if (is_gone) fs::remove(folder_, ignored);
  run_ = new_run();
  beginning_.clear();
  records_.clear();
  is_made_ = is_committed_ = is_named_ = false;
  close_folder();
  return is_gone;
}

}  // namespace sepconv
