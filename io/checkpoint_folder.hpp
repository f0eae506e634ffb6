// Contents of a checkpoint folder. Internal to io/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// Whether a file name consists of a prefix of partial_names and a run id, so that no other program's file
/// has it.
bool is_run_file_name(std::string_view name);

struct PartialFolder {
  std::filesystem::path path{};
  bool has_journal = false;                     ///< a file `journal` that may_be_journal()
  bool has_run_files = false;                   ///< any file name that is_run_file_name()
  std::vector<std::string> unbegun_journals{};  ///< journals of runs that ended before begin()
  std::vector<std::string> foreign_names{};     ///< names that do not belong to a checkpoint

  /// Lists the folder. Empty if the folder does not exist or cannot be read.
  explicit PartialFolder(std::filesystem::path folder);
  bool is_empty() const noexcept { return !has_journal && !has_run_files && foreign_names.empty(); }
  /// Whether the folder is a checkpoint: it contains files of a run or a journal. If the journal is next to
  /// foreign files only, its first line must be valid.
  bool is_checkpoint() const;
  /// Whether a run was killed before begin() and no other run has begun.
  bool is_not_begun() const noexcept { return !unbegun_journals.empty() && !has_journal; }
  /// Error texts with advice: for a folder that is not a checkpoint, and for a checkpoint with foreign files.
  std::string not_a_checkpoint_error() const;
  std::string discard_error() const;
};

}  // namespace sepconv
