// What there is in the folder of a partial result, as partial.hpp says. Internal to io/.
#pragma once

#include <filesystem>
#include <system_error>

namespace sepconv::partial_names {

inline constexpr const char* kJournal = "journal";
inline constexpr const char* kResult = "result";
inline constexpr const char* kReplaced = "replaced";
inline constexpr const char* kSegment = "segment";
inline constexpr const char* kRows = "rows";
inline constexpr const char* kPart = "part";

/// Also of a link that leads nowhere.
inline bool is_there_at(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

}  // namespace sepconv::partial_names
