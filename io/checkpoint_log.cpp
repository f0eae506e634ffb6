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

/// The number behind a word.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

/// What the lines so far say.
struct CheckpointLog::Scan {
  std::int64_t begin = 0;   ///< of the samples of the next record
  std::int64_t synced = 0;  ///< records
  bool has_samples = false;

  bool take(CheckpointLog& journal, const JournalLine& line) {
    const auto [text, end, sum] = line;
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
    } else if (const auto bytes = behind(text, "complete"); bytes) {
      journal.is_complete_ = true;
      journal.complete_bytes_ = number(*bytes);
      synced = std::ssize(records);
    } else if (behind(text, "samples")) {
      has_samples = true;
    } else {
      return false;
    }
    journal.end_ = end;
    journal.checksum_ = sum;
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

CheckpointLog::CheckpointLog(std::filesystem::path path, Use use)
    : path_(std::move(path)), boot_(this_boot()) {
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

CheckpointLog::~CheckpointLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CheckpointLog::scan() {
  Scan lines;
  is_cut_short_ = for_each_line(path_, [&](const JournalLine& line) { return lines.take(*this, line); });
  const std::int64_t proved = lines.proved(records_);
  leaves_some_ = proved < std::ssize(records_) || lines.has_samples;
  records_.resize(static_cast<std::size_t>(proved));
  count_ = proved;
}

void CheckpointLog::read(const std::function<bool(Line, std::string_view)>& take) const {
  auto next = records_.begin();
  if (next == records_.end()) return;
  for_each_line(path_, [&](const JournalLine& line) {
    const auto [text, end, sum] = line;
    if (end <= next->begin) return true;
    if (const auto samples = behind(text, "samples"); samples) return take(Line::samples, *samples);
    if (end != next->end) return true;
    const std::string_view record = *behind(text, "done");
    return take(Line::done, record.substr(record.find(' ') + 1)) && ++next != records_.end();
  });
}

void CheckpointLog::keep_first(std::int64_t count) {
  records_.resize(static_cast<std::size_t>(count));
  count_ = count;
  leaves_some_ = true;
  is_settled_ = false;
}

void CheckpointLog::settle() {
  if (std::exchange(is_settled_, true)) return;
  if (ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) throw_write_error(path_, errno);
  if (leaves_some_) add_line(fmt::format("kept {}", records_.size()));
}

void CheckpointLog::begin(std::string_view text) {
  add_line(fmt::format("begin {}", text));
  beginning_ = text;
}

int CheckpointLog::take_name(std::filesystem::path name) {
  if (fdatasync(descriptor_) != 0) return errno;
  const int failed = rename_to_absent(path_, name);
  if (failed == 0) path_ = std::move(name);
  return failed;
}

void CheckpointLog::add_samples(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  add_line(fmt::format("samples {}", text));
}

void CheckpointLog::append(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  add_line(fmt::format("done {} {}", boot_, text));
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
  } catch (const std::exception&) {  // the disk takes nothing more
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
  // Where the next line goes, too, if this one cannot be written.
  if (const int failed = write_fully(descriptor_, end_, std::as_bytes(std::span(line))); failed != 0)
    throw_write_error(path_, failed);
  end_ += std::ssize(line);
  checksum_ = sum;
}

}  // namespace sepconv
