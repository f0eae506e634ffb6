// Append-only log of a checkpoint. Each line has the running CRC-32C of the texts of all lines up to it, so
// that missing, repeated and foreign lines are detected. The log also records how many of its records, with
// the data that they describe, are on the disk (fsync). Internal to io/checkpoint/.
//
//   CHECKSUM begin TEXT       the first line
//   CHECKSUM samples TEXT     samples of the data of the next record; any number of lines
//   CHECKSUM done BOOT TEXT   a record, added in this boot of the machine
//   CHECKSUM synced COUNT     this many records and their data are on the disk
//   CHECKSUM kept COUNT       only the first COUNT records before this line are valid
//   CHECKSUM lost             data that were not on the disk before this line may be lost
//   CHECKSUM complete BYTES   the result is complete and on the disk: a file of BYTES bytes, or a folder (-1)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// Whether a file begins as a log, allowing for damage: one byte of eight changed, zeros, or truncation.
bool may_be_log(const std::filesystem::path& path);
/// The line of a text, with its end. `checksum` of the previous line becomes that of this line.
std::string log_line(std::string_view text, std::uint32_t& checksum);

class CheckpointLog {
 public:
  enum class Use : std::uint8_t { extend, look };
  /// Opens the log or creates an empty one, for one process at a time. The file is not changed until a line
  /// is added. Symbolic links and anything but regular files have no lines. Throws IoError.
  CheckpointLog(std::filesystem::path path, Use use);
  CheckpointLog(const CheckpointLog&) = delete;
  CheckpointLog& operator=(const CheckpointLog&) = delete;
  ~CheckpointLog();

  /// Text of the first line; empty if that line is missing or damaged.
  const std::string& beginning() const noexcept { return beginning_; }
  /// Whether lines after a changed, missing or repeated line were ignored.
  bool is_cut_short() const noexcept { return is_cut_short_; }
  /// The argument of complete(), if it was called.
  const std::optional<std::int64_t>& complete_bytes() const noexcept { return complete_bytes_; }
  enum class Line : std::uint8_t { samples, record };
  /// Reads the records, and the samples before each, one line at a time until `visit` returns false. Reading
  /// ends at a damaged line and at a record of an earlier boot that was not synced. Samples without a record
  /// are skipped.
  void read(const std::function<bool(Line line, std::string_view text)>& visit) const;
  /// Keeps only the first `count` records.
  void keep_first_records(std::int64_t count);
  /// Truncates the file after the last valid line and discards invalid records. To be called before the data
  /// of those records are overwritten, and only by a process that continues the log. Adding a line calls it,
  /// too.
  void settle();

  /// Writes the first line of an empty log.
  void begin(std::string_view text);
  /// Syncs the file, then renames it to `name`, which must not exist. Returns 0 or an errno.
  int rename_to(std::filesystem::path name);
  void add_samples(std::string_view text);
  /// Adds a record. Its data must have been passed to the kernel before.
  void append(std::string_view text);
  std::int64_t count() const;
  /// Records that the data of the first `count` records are on the disk. On return these records are on the
  /// disk, too.
  void sync(std::int64_t count);
  /// Records that the result is complete and on the disk: a file of `bytes` bytes, or a folder (-1). Synced
  /// on return.
  void complete(std::int64_t bytes);
  /// Records that the disk reported an error: only records that were synced before remain valid.
  void lose() noexcept;

 private:
  /// Byte range of a record in the file: its samples, then its line.
  struct RecordRange {
    std::int64_t begin = 0, end = 0;
    bool is_of_this_boot = false;
  };
  struct Scan;
  void add_line(std::string_view text);
  void add_synced_line(std::string_view text);

  std::filesystem::path path_;
  std::string boot_id_;
  int descriptor_ = -1;
  std::string beginning_;
  std::optional<std::int64_t> complete_bytes_;
  bool is_cut_short_ = false, discards_records_ = false, is_truncated_ = false;
  std::vector<RecordRange> records_;  // as read by the constructor
  mutable std::mutex mutex_;
  std::int64_t end_ = 0, count_ = 0;
  std::uint32_t checksum_ = 0;  // running checksum up to end_
};

}  // namespace sepconv
