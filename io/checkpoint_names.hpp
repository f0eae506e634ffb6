// Names in a checkpoint folder, see checkpoint.hpp. Internal to io/.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>

namespace sepconv::partial_names {

inline constexpr const char* kFolderSuffix = ".partial";  // of the folder
inline constexpr const char* kJournal = "journal";
inline constexpr const char* kResult = "result";
inline constexpr const char* kReplaced = "replaced";
inline constexpr const char* kSegment = "segment";
inline constexpr const char* kRows = "rows";
inline constexpr const char* kPart = "part";

/// Prefix of the name that NFS gives a file that was removed while open.
inline constexpr const char* kRemovedWhileOpen = ".nfs";
inline constexpr std::size_t kRunDigits = 16;

/// Draws a random run id.
inline std::string draw_run_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// The name of a run's file. Files of other runs have other names, so that a late process of another run
/// cannot overwrite them.
inline std::string name_in_run(const char* prefix, const std::string& run) {
  return run.empty() ? prefix : std::string(prefix) + "-" + run;
}

/// Whether the path exists. True for a dangling symbolic link.
inline bool path_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

}  // namespace sepconv::partial_names
