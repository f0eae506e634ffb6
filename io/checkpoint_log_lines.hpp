// Lines of a journal as they are in its file: "CHECKSUM TEXT", where the checksum is that of all texts so
// far. Internal to io/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sepconv {

/// A whole one, and the place behind it.
struct JournalLine {
  std::string_view text{};
  std::int64_t end = 0;
  std::uint32_t checksum = 0;
};

/// Up to the first that is not what was written behind those before, or until `take` returns false. Returns
/// whether there is such a one, which has its end: a process that is killed within a line leaves it without.
/// Nothing of what is not a file, or a link.
bool for_each_line(const std::filesystem::path& path, const std::function<bool(const JournalLine&)>& take);

/// A file that begins as a journal does, or as what damage leaves of one: with a byte of eight changed, with
/// zeros, or with nothing.
bool may_be_journal(const std::filesystem::path& path);

/// The checksum of a text behind others that have this one.
std::uint32_t journal_checksum(std::string_view text, std::uint32_t before);
std::string journal_line(std::string_view text, std::uint32_t checksum);

}  // namespace sepconv
