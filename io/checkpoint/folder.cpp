#include "io/checkpoint/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "io/checkpoint/log.hpp"
#include "io/join_names.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using namespace checkpoint_names;

/// Whether a name consists of a prefix and a run id, so that no other program's file has it.
bool is_run_file_name(std::string_view name) {
  for (const std::string_view prefix : {kLog, kResult, kSegment, kRows, kPart}) {
    if (!name.starts_with(prefix) || name.size() <= prefix.size() || name[prefix.size()] != '-') continue;
    const std::string_view run = name.substr(prefix.size() + 1);
    const std::size_t digits = std::min(run.find_first_not_of(kDigits), run.size());
    return digits == kRunDigits && (run.size() == digits || run[digits] == '-' || run[digits] == '.');
  }
  return false;
}

/// Removes entries of a folder; returns false if some of them remain.
template <class IsRemovable>
bool remove_entries(const fs::path& folder, const IsRemovable& is_removable) {
  std::error_code list_error;
  bool all_removed = true;
  fs::directory_iterator entry(folder, list_error);
  for (; !list_error && entry != fs::directory_iterator(); entry.increment(list_error)) {
    if (!is_removable(entry->path().filename().native())) continue;
    std::error_code remove_error;
    fs::remove_all(entry->path(), remove_error);
    all_removed = all_removed && !remove_error;
  }
  return all_removed && !list_error;
}

}  // namespace

bool is_incomplete_output(const fs::path& folder) {
  std::error_code ignored;
  return (folder.extension() == kFolderSuffix && CheckpointFolder(folder).is_checkpoint()) ||
         fs::exists(folder / kUnfinishedMark, ignored);
}

std::string draw_run_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string name_in_run(const char* prefix, const std::string& run) {
  return run.empty() ? prefix : std::string(prefix) + "-" + run;
}

bool path_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

CheckpointFolder::CheckpointFolder(fs::path folder) : path(std::move(folder)) {
  std::error_code failed;
  fs::directory_iterator entry(path, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().native();
    if (name == kLog && may_be_log(entry->path())) {
      has_log = true;
    } else if (is_run_file_name(name)) {
      has_run_files = true;
      if (name.starts_with(kLog)) unbegun_logs.push_back(name);
    } else if (!name.starts_with(kRemovedWhileOpen)) {
      foreign_names.push_back(name);
    }
  }
  if (is_checkpoint()) std::erase(foreign_names, kReplaced);
}

bool CheckpointFolder::is_checkpoint() const {
  if (has_run_files || (has_log && foreign_names.empty())) return true;
  return has_log && !CheckpointLog(path / kLog, CheckpointLog::Use::look).beginning().empty();
}

std::string CheckpointFolder::discard_error() const {
  return fmt::format("it contains {}, which is not part of a result; move that away, and discard the rest",
                     join_names(foreign_names));
}

std::string CheckpointFolder::not_a_checkpoint_error() const {
  std::vector<std::string> names = foreign_names;
  if (has_log) names.emplace_back(kLog);
  std::ranges::sort(names);
  return fmt::format("it exists and is not a partial result{}; move it away",
                     names.empty() ? "" : fmt::format(", with {} in it", join_names(std::move(names))));
}

bool CheckpointFolder::remove_content(const fs::path& folder) noexcept {
  return remove_entries(folder, [](std::string_view name) {
    return name == kReplaced || (is_run_file_name(name) && !name.starts_with(kLog));
  });
}

bool CheckpointFolder::remove(const fs::path& folder) noexcept {
  if (!remove_content(folder)) return false;
  std::error_code ignored;
  if (may_be_log(folder / kLog)) fs::remove(folder / kLog, ignored);
  if (path_exists(folder / kLog) || !remove_entries(folder, is_run_file_name)) return false;
  fs::remove(folder, ignored);
  return true;
}

}  // namespace sepconv
