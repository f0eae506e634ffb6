// Names and contents of a checkpoint folder, see checkpoint.hpp. Internal to io/.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

namespace checkpoint_names {
inline constexpr const char* kFolderSuffix = ".partial";  // of the folder
inline constexpr const char* kLog = "journal";
inline constexpr const char* kResult = "result";
inline constexpr const char* kReplaced = "replaced";
inline constexpr const char* kSegment = "segment";
inline constexpr const char* kRows = "rows";
inline constexpr const char* kPart = "part";
/// Prefix of the name that NFS gives a file that was removed while open.
inline constexpr const char* kRemovedWhileOpen = ".nfs";
/// A run id has 16 hexadecimal digits.
inline constexpr const char* kDigits = "0123456789abcdef";
inline constexpr std::size_t kRunDigits = 16;
}  // namespace checkpoint_names

/// Name of a file that marks an incomplete output folder.
inline constexpr const char* kUnfinishedMark = ".sepconv-unfinished";
/// Whether a folder is an incomplete result or a checkpoint.
bool is_incomplete_output(const std::filesystem::path& folder);

/// Draws a random run id.
std::string draw_run_id();
/// The name of a run's file. Files of other runs have other names, so that a late process of another run
/// cannot overwrite them.
std::string name_in_run(const char* prefix, const std::string& run);
/// Whether the path exists. True for a dangling symbolic link.
bool path_exists(const std::filesystem::path& path);

struct CheckpointFolder {
  std::filesystem::path path{};
  bool has_log = false;                      ///< a log that may be damaged
  bool has_run_files = false;                ///< any name with the id of a run
  std::vector<std::string> unbegun_logs{};   ///< logs of runs that ended before begin()
  std::vector<std::string> foreign_names{};  ///< names that do not belong to a checkpoint

  /// Lists the folder. Empty if the folder does not exist or cannot be read.
  explicit CheckpointFolder(std::filesystem::path folder);
  bool is_empty() const noexcept { return !has_log && !has_run_files && foreign_names.empty(); }
  /// Whether the folder is a checkpoint: it contains files of a run or a log. If the log is next to foreign
  /// files only, its first line must be valid.
  bool is_checkpoint() const;
  /// Whether a run was killed before begin() and no other run has begun.
  bool is_not_begun() const noexcept { return !unbegun_logs.empty() && !has_log; }
  /// Error texts with advice: for a folder that is not a checkpoint, and for a checkpoint with foreign files.
  std::string not_a_checkpoint_error() const;
  std::string discard_error() const;

  /// Removes the files of runs except their logs. Returns false if some remain.
  static bool remove_content(const std::filesystem::path& folder) noexcept;
  /// Removes these files, then the logs, which describe them, and the folder. Keeps files of others. Returns
  /// false if some of the checkpoint remains.
  static bool remove(const std::filesystem::path& folder) noexcept;
};

}  // namespace sepconv
