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

/// Lines of a file up to the first that is not what was written; `take` gets each, and where it ends.
void for_each_line(const std::filesystem::path& path,
                   const std::function<bool(std::string_view text, std::int64_t end)>& take) {
  std::ifstream file(path, std::ios::binary);
  std::int64_t end = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const std::optional<std::string_view> text = checked(line);
    end += std::ssize(line) + 1;
    if (!text || !take(*text, end)) return;
  }
}

}  // namespace

JournalFile::JournalFile(std::filesystem::path path, Use use) : path_(std::move(path)), boot_(this_boot()) {
  if (use == Use::extend) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) throw_write_error(path_, errno);
  }
  scan();
  if (use == Use::extend) cut();
}

JournalFile::~JournalFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void JournalFile::scan() {
  std::vector<bool> of_this_boot;
  std::int64_t synced = 0;
  for_each_line(path_, [&](std::string_view text, std::int64_t end) {
    if (const auto begun = behind(text, "begin"); begun && beginning_.empty()) {
      beginning_ = *begun;
      begun_end_ = end;
    } else if (beginning_.empty()) {
      return false;
    } else if (const auto record = behind(text, "done"); record) {
      of_this_boot.push_back(!boot_.empty() && behind(*record, boot_));
      ends_.push_back(end);
    } else if (const auto count = behind(text, "synced"); count) {
      std::from_chars(count->data(), count->data() + count->size(), synced);
    } else if (!behind(text, "samples")) {
      return false;
    }
    end_ = end;
    return true;
  });
  count_ = std::ssize(ends_);
  std::int64_t proved = 0;
  while (proved < count_ && (of_this_boot[static_cast<std::size_t>(proved)] || proved < synced)) ++proved;
  leave(proved);
}

void JournalFile::read(const std::function<bool(Line, std::string_view)>& take) const {
  if (ends_.empty()) return;
  for_each_line(path_, [&](std::string_view text, std::int64_t end) {
    if (const auto samples = behind(text, "samples"); samples) return take(Line::samples, *samples);
    const auto record = behind(text, "done");
    return !record || (take(Line::done, record->substr(record->find(' ') + 1)) && end < ends_.back());
  });
}

void JournalFile::leave(std::int64_t count) {
  if (count == count_) return;
  end_ = count == 0 ? begun_end_ : ends_[static_cast<std::size_t>(count) - 1];
  ends_.resize(static_cast<std::size_t>(count));
  count_ = count;
}

void JournalFile::keep_first(std::int64_t count) {
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

void JournalFile::add_samples(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  add_line(fmt::format("samples {}", text));
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
  if (fdatasync(descriptor_) != 0) throw_write_error(path_, errno);
}

void JournalFile::add_line(std::string_view text) {
  const std::string line = fmt::format("{:08x} {}\n", checksum(text), text);
  // Where the next line goes, too, if this one cannot be written.
  if (const int failed = write_fully(descriptor_, end_, std::as_bytes(std::span(line))); failed != 0)
    throw_write_error(path_, failed);
  end_ += std::ssize(line);
}

}  // namespace sepconv
