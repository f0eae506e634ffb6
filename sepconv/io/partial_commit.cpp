// How a partial result gets its name, and how what is left of it goes.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "sepconv/io/durable.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/journal_file.hpp"
#include "sepconv/io/kept_rows.hpp"
#include "sepconv/io/partial.hpp"
#include "sepconv/io/partial_names.hpp"
#include "sepconv/io/partial_samples.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace partial_names;

/// What a partial result has beside its journal: each name is followed by nothing, by bands or by a suffix.
bool is_own_name(std::string_view name) {
  const std::string_view what = name.substr(0, name.find_first_of("-."));
  const auto own = {kResult, kReplaced, kSegment, kRows, kPart};
  return std::ranges::any_of(own, [&](std::string_view one) { return what == one; });
}

}  // namespace

/// What is under each name at each moment says how far it came: `result` is always what is being made, and
/// `replaced` what had its name. The journal says that all is done before `result` goes.
void Partial::commit(bool replaces) {
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

void Partial::name_result(bool replaces) {
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

void Partial::check_name_is_free() const {
  if (is_there_at(name_))
    throw_write_error(name_, "it is there by now, and what was begun replaces nothing; move it away", EEXIST);
}

/// What had the name, where a process was killed before the result had it.
void Partial::put_back() const noexcept {
  if (is_there_at(result())) rename_to_absent(folder_ / kReplaced, name_);
}

/// All but the journal, and what somebody else put there. False: some of it stays.
bool Partial::remove_content() const noexcept {
  std::error_code failed;
  bool is_gone = true;
  fs::directory_iterator entry(folder_, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (!is_own_name(entry->path().filename().native())) continue;
    std::error_code stays;
    fs::remove_all(entry->path(), stays);
    is_gone = is_gone && !stays;
  }
  return is_gone && !failed;
}

/// The journal last, and only behind the rest: without it the folder is nobody's. Files are closed before:
/// of what is open, network file systems keep another name in the folder.
void Partial::remove() noexcept {
  journal_.reset();
  rows_.reset();
  std::error_code ignored;
  if (remove_content() && fs::remove(folder_ / kJournal, ignored)) fs::remove(folder_, ignored);
  run_ = new_run();
  beginning_.clear();
  records_.clear();
  is_made_ = is_committed_ = is_named_ = false;
  close_folder();
}

}  // namespace sepconv
