// Lines of a journal file: "CHECKSUM TEXT", where the checksum covers all texts so far. Internal to io/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sepconv {

/// A complete line and the file offset after it.
struct JournalLine {
  std::string_view text{};
  std::int64_t end = 0;
  std::uint32_t checksum = 0;
};

/// Visits lines until `visit` returns false or a line has a wrong checksum. Returns whether a complete line
/// had a wrong checksum. An incomplete last line, as a killed process leaves it, is ignored. Symbolic links
/// and anything but regular files have no lines.
bool for_each_line(const std::filesystem::path& path, const std::function<bool(const JournalLine&)>& visit);

/// Whether a file begins as a journal, allowing for damage: one byte of eight changed, zeros, or truncation.
bool may_be_journal(const std::filesystem::path& path);

/// Checksum of a text, continuing that of the previous texts.
std::uint32_t journal_checksum(std::string_view text, std::uint32_t previous_checksum);
std::string journal_line(std::string_view text, std::uint32_t checksum);

}  // namespace sepconv
