#include "sepconv/io/journal_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "sepconv/io/crc32c.hpp"
#include "sepconv/io/file_errors.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kChecksumDigits = 8;

std::uint32_t checksum(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

/// Another at each boot of the machine: what was given to the system in this one is there, on the disk or
/// not. Empty where the system does not say.
std::string this_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return boot;
}

/// What follows a word and a space; nothing where another begins it.
std::optional<std::string_view> behind(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != ' ') return std::nullopt;
  return text.substr(word.size() + 1);
}

/// The text of a line, if it is what was written.
std::optional<std::string_view> checked(std::string_view line) {
  std::uint32_t written = 0;
  if (line.size() <= kChecksumDigits || line[kChecksumDigits] != ' ') return std::nullopt;
  const char* const end = line.data() + kChecksumDigits;
  const auto [read, error] = std::from_chars(line.data(), end, written, 16);
  const std::string_view text = line.substr(kChecksumDigits + 1);
  if (error != std::errc() || read != end || checksum(text) != written) return std::nullopt;
  return text;
}

}  // namespace

JournalFile::JournalFile(std::filesystem::path path, Use use) : path_(std::move(path)), boot_(this_boot()) {
  if (use == Use::extend) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw_write_error(path_, errno);
  }
  read();
  if (use == Use::extend) cut();
}

JournalFile::~JournalFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void JournalFile::read() {
  std::ifstream file(path_, std::ios::binary);
  std::vector<bool> of_this_boot;
  std::int64_t synced = 0, at = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const std::optional<std::string_view> text = checked(line);
    if (!text) break;
    at += std::ssize(line) + 1;
    if (const auto begun = behind(*text, "begin"); begun && beginning_.empty()) {
      beginning_ = *begun;
      begun_end_ = at;
    } else if (const auto record = behind(*text, "done"); record && !beginning_.empty()) {
      const std::size_t space = record->find(' ');
      if (space == record->npos) break;
      of_this_boot.push_back(!boot_.empty() && record->substr(0, space) == boot_);
      records_.emplace_back(record->substr(space + 1));
      ends_.push_back(at);
    } else if (const auto count = behind(*text, "synced"); count) {
      std::from_chars(count->data(), count->data() + count->size(), synced);
    } else {
      break;
    }
    end_ = at;
  }
  std::size_t proved = 0;
  while (proved < records_.size() && (of_this_boot[proved] || static_cast<std::int64_t>(proved) < synced))
    ++proved;
  count_ = std::ssize(records_);
  leave(proved);
}

void JournalFile::leave(std::size_t count) {
  if (count >= ends_.size()) return;
  end_ = count == 0 ? begun_end_ : ends_[count - 1];
  if (count < records_.size()) records_.resize(count);
  ends_.resize(count);
  count_ = static_cast<std::int64_t>(count);
}

void JournalFile::keep_first(std::size_t count) {
  leave(count);
  cut();
}

void JournalFile::cut() {
  if (ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) throw_write_error(path_, errno);
}

void JournalFile::begin(std::string_view text) {
  add_line(fmt::format("begin {}", text));
  beginning_ = text;
  begun_end_ = end_;
}

void JournalFile::append(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  add_line(fmt::format("done {} {}", boot_, text));
  ++count_;
}

std::int64_t JournalFile::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

void JournalFile::sync(std::int64_t count) {
  {
    const std::scoped_lock lock(mutex_);
    add_line(fmt::format("synced {}", count));
  }
  flush();
}

void JournalFile::flush() {
  if (fdatasync(descriptor_) != 0) throw_write_error(path_, errno);
}

void JournalFile::add_line(std::string_view text) {
  const std::string line = fmt::format("{:08x} {}\n", checksum(text), text);
  std::int64_t at = end_;  // where the next line goes, too, if this one cannot be written
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t count = pwrite(descriptor_, rest.data(), rest.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw_write_error(path_, count == 0 ? ENOSPC : errno);
    at += count;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  end_ = at;
}

}  // namespace sepconv
