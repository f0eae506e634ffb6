#include "io/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/checkpoint_log.hpp"
#include "io/checkpoint_log_lines.hpp"
#include "io/checkpoint_names.hpp"
#include "io/join_names.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace partial_names;

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

bool is_run_file_name(std::string_view name) {
  for (const std::string_view prefix : {kJournal, kResult, kSegment, kRows, kPart}) {
    if (!name.starts_with(prefix) || name.size() <= prefix.size() || name[prefix.size()] != '-') continue;
    const std::string_view run = name.substr(prefix.size() + 1);
    const std::size_t digits = std::min(run.find_first_not_of(kDigits), run.size());
    return digits == kRunDigits && (run.size() == digits || run[digits] == '-' || run[digits] == '.');
  }
  return false;
}

PartialFolder::PartialFolder(fs::path folder) : path(std::move(folder)) {
  std::error_code failed;
  fs::directory_iterator entry(path, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (name == kJournal && may_be_journal(entry->path())) {
      has_journal = true;
    } else if (is_run_file_name(name)) {
      has_run_files = true;
      if (name.starts_with(kJournal)) unbegun_journals.push_back(name);
    } else if (!name.starts_with(kRemovedWhileOpen)) {
      foreign_names.push_back(name);
    }
  }
  if (is_checkpoint()) std::erase(foreign_names, kReplaced);
}

bool PartialFolder::is_checkpoint() const {
  if (has_run_files || (has_journal && foreign_names.empty())) return true;
  return has_journal && !CheckpointLog(path / kJournal, CheckpointLog::Use::look).beginning().empty();
}

std::string PartialFolder::discard_error() const {
  return fmt::format("it contains {}, which is not part of a result; move that away, and discard the rest",
                     join_names(foreign_names));
}

std::string PartialFolder::not_a_checkpoint_error() const {
  std::vector<std::string> names = foreign_names;
  if (has_journal) names.emplace_back(kJournal);
  std::ranges::sort(names);
  return fmt::format("it exists and is not a partial result{}; move it away",
                     names.empty() ? "" : fmt::format(", with {} in it", join_names(std::move(names))));
}

}  // namespace sepconv
