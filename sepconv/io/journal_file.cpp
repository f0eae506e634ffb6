#include "sepconv/io/journal_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
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

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
using FileHandle = std::unique_ptr<FILE, CloseFile>;

/// Nothing of what is no file, or a link: somebody else may have put it there, and a pipe would be waited
/// for.
FileHandle open_regular(const std::filesystem::path& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  const bool is_file = opened >= 0 && fstat(opened, &status) == 0 && S_ISREG(status.st_mode);
  FileHandle file(is_file ? fdopen(opened, "r") : nullptr);
  if (opened >= 0 && !file) close(opened);
  return file;
}

/// Of a file, one after another.
class TextLine {
 public:
  TextLine() = default;
  TextLine(const TextLine&) = delete;
  TextLine& operator=(const TextLine&) = delete;
  ~TextLine() { free(buffer_); }

  /// False for what does not end as a line does.
  bool read(FILE* file) {
    length_ = getline(&buffer_, &capacity_, file);
    return length_ > 0 && buffer_[length_ - 1] == '\n';
  }
  std::string_view text() const { return {buffer_, static_cast<std::size_t>(length_ - 1)}; }

 private:
  char* buffer_ = nullptr;  // getline()'s
  std::size_t capacity_ = 0;
  ssize_t length_ = 0;
};

/// Lines of a file up to the first that is not what was written; `take` gets each, and where it ends. Returns
/// whether that one was whole once: a process that ends within a line, or a machine, leaves it without its
/// end, or zeros in it.
bool for_each_line(const std::filesystem::path& path,
                   const std::function<bool(std::string_view text, std::int64_t end)>& take) {
  const FileHandle file = open_regular(path);
  TextLine line;
  std::int64_t end = 0;
  while (file && line.read(file.get())) {
    const std::optional<std::string_view> text = checked(line.text());
    end += std::ssize(line.text()) + 1;
    if (!text) return line.text().find('\0') == std::string_view::npos;
    if (!take(*text, end)) return false;
  }
  return false;
}

/// The number behind a word.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

/// What the lines so far say.
struct JournalFile::Scan {
  std::int64_t begin = 0;   ///< of the samples of the next record
  std::int64_t synced = 0;  ///< records
  bool has_samples = false;

  bool take(JournalFile& journal, std::string_view text, std::int64_t end) {
    std::vector<Place>& records = journal.records_;
    if (const auto begun = behind(text, "begin"); begun && journal.beginning_.empty()) {
      journal.beginning_ = *begun;
      next_at(end);
    } else if (journal.beginning_.empty()) {
      return false;
    } else if (const auto record = behind(text, "done"); record) {
      records.push_back({begin, end, !journal.boot_.empty() && behind(*record, journal.boot_)});
      next_at(end);
    } else if (const auto count = behind(text, "synced"); count) {
      synced = number(*count);
    } else if (const auto left = behind(text, "kept"); left) {
      if (const std::int64_t kept = number(*left); kept < std::ssize(records)) keep(records, kept);
      next_at(end);
    } else if (text == "lost") {
      for (Place& one : records) one.of_this_boot = false;
    } else if (text == "complete") {
      journal.is_complete_ = true;
      synced = std::ssize(records);
    } else if (behind(text, "samples")) {
      has_samples = true;
    } else {
      return false;
    }
    journal.end_ = end;
    return true;
  }

  /// How many of the records are proved, from the first on.
  std::int64_t proved(const std::vector<Place>& records) const {
    const auto holds = [&](const Place& one) { return one.of_this_boot || &one - records.data() < synced; };
    return std::ranges::find_if_not(records, holds) - records.begin();
  }

 private:
  void next_at(std::int64_t end) {
    begin = end;
    has_samples = false;
  }
  void keep(std::vector<Place>& records, std::int64_t count) {
    records.resize(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    synced = std::min(synced, count);
  }
};

JournalFile::JournalFile(std::filesystem::path path, Use use) : path_(std::move(path)), boot_(this_boot()) {
  if (use == Use::extend) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) throw_write_error(path_, errno);
    // Where locks of folders are known on one machine only, as by NFS, those of files may reach others.
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(descriptor_);
      throw_write_error(path_, "another process is at work on it; wait until it has ended", EWOULDBLOCK);
    }
  }
  scan();
}

JournalFile::~JournalFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void JournalFile::scan() {
  Scan lines;
  const bool is_cut_short = for_each_line(
      path_, [&](std::string_view text, std::int64_t end) { return lines.take(*this, text, end); });
  is_damaged_ = is_cut_short && beginning_.empty();
  const std::int64_t proved = lines.proved(records_);
  leaves_some_ = proved < std::ssize(records_) || lines.has_samples;
  records_.resize(static_cast<std::size_t>(proved));
  count_ = proved;
}

void JournalFile::read(const std::function<bool(Line, std::string_view)>& take) const {
  auto next = records_.begin();
  if (next == records_.end()) return;
  for_each_line(path_, [&](std::string_view text, std::int64_t end) {
    if (end <= next->begin) return true;
    if (const auto samples = behind(text, "samples"); samples) return take(Line::samples, *samples);
    if (end != next->end) return true;
    const std::string_view record = *behind(text, "done");
    return take(Line::done, record.substr(record.find(' ') + 1)) && ++next != records_.end();
  });
}

void JournalFile::keep_first(std::int64_t count) {
  records_.resize(static_cast<std::size_t>(count));
  count_ = count;
  leaves_some_ = true;
  is_settled_ = false;
}

void JournalFile::settle() {
  if (std::exchange(is_settled_, true)) return;
  if (ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) throw_write_error(path_, errno);
  if (leaves_some_) add_line(fmt::format("kept {}", records_.size()));
}

void JournalFile::begin(std::string_view text) {
  add_line(fmt::format("begin {}", text));
  beginning_ = text;
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

void JournalFile::sync(std::int64_t count) { add_synced_line(fmt::format("synced {}", count)); }

void JournalFile::complete() { add_synced_line("complete"); }

void JournalFile::lose() noexcept {
  try {
    add_synced_line("lost");
  } catch (const std::exception&) {  // the disk takes nothing more
  }
}

void JournalFile::add_synced_line(std::string_view text) {
  {
    const std::scoped_lock lock(mutex_);
    add_line(text);
  }
  if (fdatasync(descriptor_) != 0) throw_write_error(path_, errno);
}

void JournalFile::add_line(std::string_view text) {
  settle();
  const std::string line = fmt::format("{:08x} {}\n", checksum(text), text);
  // Where the next line goes, too, if this one cannot be written.
  if (const int failed = write_fully(descriptor_, end_, std::as_bytes(std::span(line))); failed != 0)
    throw_write_error(path_, failed);
  end_ += std::ssize(line);
}

}  // namespace sepconv
