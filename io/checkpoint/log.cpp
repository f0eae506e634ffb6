#include "io/checkpoint/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "io/crc32c.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kChecksumDigits = 8;
/// The text after the first checksum.
constexpr std::string_view kBegin = " begin ";

/// Id of the current boot of the machine. Data that were passed to the kernel in this boot are readable,
/// synced or not. Empty if the system does not report an id.
std::string current_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return boot;
}

/// The first word, and the text after it and a space.
std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

std::int64_t parse_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
using FileHandle = std::unique_ptr<FILE, CloseFile>;

/// Returns null for symbolic links and for anything but a regular file: another user may have created a pipe,
/// which would block.
FileHandle open_regular(const std::filesystem::path& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  const bool is_file = opened >= 0 && fstat(opened, &status) == 0 && S_ISREG(status.st_mode);
  FileHandle file(is_file ? fdopen(opened, "r") : nullptr);
  if (opened >= 0 && !file) close(opened);
  return file;
}

/// Reads a line without its end. Returns false if no complete line follows.
bool read_line(FILE* file, std::string& line) {
  line.clear();
  for (int byte = getc_unlocked(file); byte != EOF; byte = getc_unlocked(file)) {
    if (byte == '\n') return true;
    line += static_cast<char>(byte);
  }
  return false;
}

/// A line's text, and the offset and the checksum after the line.
struct LogLine {
  std::string_view text{};
  std::int64_t end = 0;
  std::uint32_t checksum = 0;
};

/// Visits lines until `visit` returns false or a line has a wrong checksum. Returns whether a complete line
/// had a wrong checksum. An incomplete last line, as a killed process leaves it, is ignored.
template <class Visit>
bool for_each_line(const std::filesystem::path& path, const Visit& visit) {
  const FileHandle file = open_regular(path);
  LogLine line;
  for (std::string read; file && read_line(file.get(), read);) {
    line.text = std::string_view(read).substr(std::min(read.size(), kChecksumDigits + 1));
    line.end += std::ssize(read) + 1;
    if (log_line(line.text, line.checksum) != read + '\n') return true;
    if (!visit(line)) return false;
  }
  return false;
}

bool is_plausible_byte(std::size_t position, char byte) {
  if (byte == '\0') return true;  // a byte that never reached the disk
  return position < kChecksumDigits
             ? std::string_view("0123456789abcdef").find(byte) != std::string_view::npos
             : byte == kBegin[position - kChecksumDigits];
}

}  // namespace

bool may_be_log(const std::filesystem::path& path) {
  const FileHandle file = open_regular(path);
  std::array<char, kChecksumDigits + kBegin.size()> bytes{};
  const std::size_t count = file ? fread(bytes.data(), 1, bytes.size(), file.get()) : 0;
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < count; ++i) damaged += !is_plausible_byte(i, bytes[i]);
  return file && kChecksumDigits * damaged <= count;
}

std::string log_line(std::string_view text, std::uint32_t& checksum) {
  checksum = crc32c(std::as_bytes(std::span(text)), checksum);
  return fmt::format("{:08x} {}\n", checksum, text);
}

/// State after the lines read so far.
struct CheckpointLog::Scan {
  CheckpointLog& log;
  std::int64_t begin = 0;   ///< offset of the samples of the next record
  std::int64_t synced = 0;  ///< number of records on the disk
  bool has_samples = false;

  /// Returns false for a line that is not understood.
  bool take(const LogLine& line) {
    const auto [word, text] = split_word(line.text);
    std::vector<RecordRange>& records = log.records_;
    if ((word == "begin") != log.beginning_.empty()) return false;
    if (word == "begin") {
      log.beginning_ = text;
    } else if (word == "done") {
      records.push_back({begin, line.end, !log.boot_id_.empty() && split_word(text).first == log.boot_id_});
    } else if (word == "kept") {
      const std::int64_t kept = std::clamp<std::int64_t>(parse_number(text), 0, std::ssize(records));
      records.resize(static_cast<std::size_t>(kept));
      synced = std::min(synced, kept);
    } else if (word == "synced") {
      synced = parse_number(text);
    } else if (word == "lost") {
      for (RecordRange& record : records) record.is_of_this_boot = false;
    } else if (word == "complete") {
      log.complete_bytes_ = parse_number(text);
      synced = std::ssize(records);
    } else if (word != "samples") {
      return false;
    }
    const bool starts_record = word == "begin" || word == "done" || word == "kept";
    if (starts_record) begin = line.end;
    has_samples = word == "samples" || (has_samples && !starts_record);
    log.end_ = line.end;
    log.checksum_ = line.checksum;
    return true;
  }

  /// Keeps the leading records whose data are readable.
  void finish() {
    std::vector<RecordRange>& records = log.records_;
    const auto is_lost = [&](const RecordRange& record) {
      return !record.is_of_this_boot && &record - records.data() >= synced;
    };
    const auto lost = std::ranges::find_if(records, is_lost);
    log.discards_records_ = lost != records.end() || has_samples;
    records.erase(lost, records.end());
    log.count_ = std::ssize(records);
  }
};

CheckpointLog::CheckpointLog(std::filesystem::path path, Use use)
    : path_(std::move(path)), boot_id_(current_boot_id()) {
  if (use == Use::extend) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) throw_write_error(path_, errno);
    // Some network file systems (NFS) lock folders only within one machine, but files across machines.
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(descriptor_);
      throw_write_error(path_, "another process is working on it; wait until it has ended", EWOULDBLOCK);
    }
  }
  Scan scan{*this};
  is_cut_short_ = for_each_line(path_, [&](const LogLine& line) { return scan.take(line); });
  scan.finish();
}

CheckpointLog::~CheckpointLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CheckpointLog::read(const std::function<bool(Line, std::string_view)>& visit) const {
  auto next = records_.begin();
  if (next == records_.end()) return;
  for_each_line(path_, [&](const LogLine& line) {
    if (line.end <= next->begin) return true;
    const auto [word, text] = split_word(line.text);
    if (word == "samples") return visit(Line::samples, text);
    if (line.end != next->end) return true;
    return visit(Line::record, split_word(text).second) && ++next != records_.end();
  });
}

void CheckpointLog::keep_first_records(std::int64_t count) {
  records_.resize(static_cast<std::size_t>(count));
  count_ = count;
  discards_records_ = true;
  is_truncated_ = false;
}

void CheckpointLog::settle() {
  if (std::exchange(is_truncated_, true)) return;
  if (ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) throw_write_error(path_, errno);
  if (discards_records_) add_line(fmt::format("kept {}", records_.size()));
}

void CheckpointLog::begin(std::string_view text) {
  add_line(fmt::format("begin {}", text));
  beginning_ = text;
}

int CheckpointLog::rename_to(std::filesystem::path name) {
  if (fdatasync(descriptor_) != 0) return errno;
  const int failed = rename_noreplace(path_, name);
  if (failed == 0) path_ = std::move(name);
  return failed;
}

void CheckpointLog::add_samples(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  add_line(fmt::format("samples {}", text));
}

void CheckpointLog::append(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  add_line(fmt::format("done {} {}", boot_id_, text));
  ++count_;
}

std::int64_t CheckpointLog::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

void CheckpointLog::sync(std::int64_t count) { add_synced_line(fmt::format("synced {}", count)); }

void CheckpointLog::complete(std::int64_t bytes) { add_synced_line(fmt::format("complete {}", bytes)); }

void CheckpointLog::lose() noexcept {
  try {
    add_synced_line("lost");
  } catch (const std::exception&) {  // the disk accepts no more data
  }
}

void CheckpointLog::add_synced_line(std::string_view text) {
  {
    const std::scoped_lock lock(mutex_);
    add_line(text);
  }
  if (fdatasync(descriptor_) != 0) throw_write_error(path_, errno);
}

void CheckpointLog::add_line(std::string_view text) {
  settle();
  std::uint32_t checksum = checksum_;
  const std::string line = log_line(text, checksum);
  // If this line cannot be written, the next line is written at the same offset.
  if (const int failed = write_fully(descriptor_, end_, std::as_bytes(std::span(line))); failed != 0)
    throw_write_error(path_, failed);
  end_ += std::ssize(line);
  checksum_ = checksum;
}

}  // namespace sepconv
