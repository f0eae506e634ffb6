#include "io/checkpoint_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "io/checkpoint_log_lines.hpp"
#include "io/file_errors.hpp"
#include "io/fsync.hpp"

namespace sepconv {
namespace {

/// Id of the current boot of the machine. Data that were passed to the kernel in this boot are readable,
/// synced or not. Empty if the system does not report an id.
std::string current_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return boot;
}

/// The text after a word and a space; null if the text begins with another word.
std::optional<std::string_view> text_after(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != ' ') return std::nullopt;
  return text.substr(word.size() + 1);
}

/// Parses a number.
std::int64_t parse_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

/// State after the lines read so far.
struct CheckpointLog::LogState {
  std::int64_t begin = 0;   ///< offset of the samples of the next record
  std::int64_t synced = 0;  ///< number of records on the disk
  bool has_samples = false;

  bool take(CheckpointLog& journal, const JournalLine& line) {
    const auto [text, end, sum] = line;
    std::vector<RecordRange>& records = journal.records_;
    if (const auto begin_text = text_after(text, "begin"); begin_text && journal.beginning_.empty()) {
      journal.beginning_ = *begin_text;
      start_record_at(end);
    } else if (journal.beginning_.empty()) {
      return false;
    } else if (const auto record = text_after(text, "done"); record) {
      records.push_back({begin, end, !journal.boot_id_.empty() && text_after(*record, journal.boot_id_)});
      start_record_at(end);
    } else if (const auto synced_text = text_after(text, "synced"); synced_text) {
      synced = parse_number(*synced_text);
    } else if (const auto kept_text = text_after(text, "kept"); kept_text) {
      if (const std::int64_t kept_count = parse_number(*kept_text); kept_count < std::ssize(records))
        keep(records, kept_count);
      start_record_at(end);
    } else if (text == "lost") {
      for (RecordRange& record_range : records) record_range.is_of_this_boot = false;
    } else if (const auto complete_text = text_after(text, "complete"); complete_text) {
      journal.is_complete_ = true;
      journal.complete_bytes_ = parse_number(*complete_text);
      synced = std::ssize(records);
    } else if (text_after(text, "samples")) {
      has_samples = true;
    } else {
      return false;
    }
    journal.end_ = end;
    journal.checksum_ = sum;
    return true;
  }

  /// Number of leading records whose data are readable.
  std::int64_t count_readable(const std::vector<RecordRange>& records) const {
    const auto is_readable = [&](const RecordRange& record_range) {
      return record_range.is_of_this_boot || &record_range - records.data() < synced;
    };
    return std::ranges::find_if_not(records, is_readable) - records.begin();
  }

 private:
  void start_record_at(std::int64_t end) {
    begin = end;
    has_samples = false;
  }
  void keep(std::vector<RecordRange>& records, std::int64_t count) {
    records.resize(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    synced = std::min(synced, count);
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
  scan();
}

CheckpointLog::~CheckpointLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CheckpointLog::scan() {
  LogState state;
  is_cut_short_ = for_each_line(path_, [&](const JournalLine& line) { return state.take(*this, line); });
  const std::int64_t readable_count = state.count_readable(records_);
  discards_records_ = readable_count < std::ssize(records_) || state.has_samples;
  records_.resize(static_cast<std::size_t>(readable_count));
  count_ = readable_count;
}

void CheckpointLog::read(const std::function<bool(Line, std::string_view)>& visit) const {
  auto next = records_.begin();
  if (next == records_.end()) return;
  for_each_line(path_, [&](const JournalLine& line) {
    const auto [text, end, sum] = line;
    if (end <= next->begin) return true;
    if (const auto samples = text_after(text, "samples"); samples) return visit(Line::samples, *samples);
    if (end != next->end) return true;
    const std::string_view record = *text_after(text, "done");
    return visit(Line::done, record.substr(record.find(' ') + 1)) && ++next != records_.end();
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
  const std::uint32_t sum = journal_checksum(text, checksum_);
  const std::string line = journal_line(text, sum);
  // If this line cannot be written, the next line is written at the same offset.
  if (const int failed = write_fully(descriptor_, end_, std::as_bytes(std::span(line))); failed != 0)
    throw_write_error(path_, failed);
  end_ += std::ssize(line);
  checksum_ = sum;
}

}  // namespace sepconv
