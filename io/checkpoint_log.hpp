// Append-only log. Each line has the running CRC-32C of all lines before it, so that missing, repeated and
// foreign lines are detected. The log also records how many of its lines, with the data that they describe,
// are on the disk (fsync). Internal to io/.
//
//   CHECKSUM begin TEXT       the first line
//   CHECKSUM samples TEXT     of what the next record speaks of; any number
//   CHECKSUM done BOOT TEXT   a record, added in this boot of the machine
//   CHECKSUM synced COUNT     this many records and their data are on the disk
//   CHECKSUM kept COUNT       of the records before only this many are left, and no samples behind them
//   CHECKSUM lost             what was not on the disk until now may never come there
//   CHECKSUM complete BYTES   all of it is done, and on the disk: a file of this many bytes, or a folder (-1)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

class CheckpointLog {
 public:
  enum class Use : std::uint8_t { extend, look };
  /// Opens it, or makes an empty one, for one process at a time; what is there stays as it is until a line is
  /// added. Throws IoError.
  CheckpointLog(std::filesystem::path path, Use use);
  CheckpointLog(const CheckpointLog&) = delete;
  CheckpointLog& operator=(const CheckpointLog&) = delete;
  ~CheckpointLog();

  /// What it begins with; "" if it has no beginning that is whole.
  const std::string& beginning() const noexcept { return beginning_; }
  /// Whether what follows some line is left out, as that was changed, is missing or there twice.
  bool is_cut_short() const noexcept { return is_cut_short_; }
  /// Whether it was told complete().
  bool is_complete() const noexcept { return is_complete_; }
  /// What it was told.
  std::int64_t complete_bytes() const noexcept { return complete_bytes_; }
  enum class Line : std::uint8_t { samples, done };
  /// Reads the records that are proved, and their samples before each, one line at a time, until `take`
  /// returns false: a line that is not whole ends them, and so does one that was added in another boot than
  /// this and was not on the disk. Samples of a run that ended before their record are left out.
  void read(const std::function<bool(Line line, std::string_view text)>& take) const;
  /// Leaves the first this many of the records.
  void keep_first(std::int64_t count);
  /// A line that is not whole goes from the file, and what follows it, and records that are not proved or
  /// left. Not before, as who finds that it cannot go on changes nothing, but before what they speak of is
  /// written over. Adding a line does it, too.
  void settle();

  /// Writes the beginning of an empty one.
  void begin(std::string_view text);
  /// Brings what it has to the disk, then gives it this name, which nothing is to have. Returns 0 or an
  /// errno.
  int take_name(std::filesystem::path name);
  void add_samples(std::string_view text);
  /// Adds a record. Its data were given to the system before.
  void append(std::string_view text);
  std::int64_t count() const;
  /// The first this many records have their data on the disk: so are they and the beginning, when this returns.
  void sync(std::int64_t count);
  /// Says, on the disk when this returns, that all is: a file of this many bytes, or a folder (-1).
  void complete(std::int64_t bytes);
  /// The disk refused something: of the records only those count that were on it before.
  void lose() noexcept;

 private:
  /// For a record: its samples are between these places in the file, and it is the last line of them.
  struct Place {
    std::int64_t begin = 0, end = 0;
    bool of_this_boot = false;
  };
  struct Scan;
  void scan();
  void add_line(std::string_view text);
  void add_synced_line(std::string_view text);

  std::filesystem::path path_;
  std::string boot_;
  int descriptor_ = -1;
  std::string beginning_;
  bool is_complete_ = false, is_cut_short_ = false;
  bool leaves_some_ = false, is_settled_ = false;
  std::vector<Place> records_;  // as it was opened
  mutable std::mutex mutex_;
  std::int64_t end_ = 0, count_ = 0, complete_bytes_ = -1;
  std::uint32_t checksum_ = 0;  // of all texts up to end_
};

}  // namespace sepconv
