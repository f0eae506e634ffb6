// What there is in the folder of a partial result, as partial.hpp says. Internal to io/.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>

namespace sepconv::partial_names {

inline constexpr const char* kEnding = ".partial";  // of the folder
inline constexpr const char* kJournal = "journal";
inline constexpr const char* kResult = "result";
inline constexpr const char* kReplaced = "replaced";
inline constexpr const char* kSegment = "segment";
inline constexpr const char* kRows = "rows";
inline constexpr const char* kPart = "part";

/// What network file systems call a file that was removed while it was open.
inline constexpr const char* kRemovedWhileOpen = ".nfs";
inline constexpr std::size_t kRunDigits = 16;

/// This many digits, of whoever begins a result.
inline std::string new_run() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// A name that only those of one run use: whoever is late of another writes to nothing that this one reads.
inline std::string of_run(const char* what, const std::string& run) {
  return run.empty() ? what : std::string(what) + "-" + run;
}

/// Also of a link that leads nowhere.
inline bool is_there_at(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

}  // namespace sepconv::partial_names
