// A result that is computed in several runs. Its data are kept in a folder next to the target until complete:
//
//   NAME.partial/journal           the log: the job and its completed bands; its first line is on the disk
//   NAME.partial/journal-RUN       the log until its first line is on the disk
//   NAME.partial/result-RUN        a file or a folder, which is renamed to NAME at the end
//   NAME.partial/replaced          the previous folder NAME, until the result is renamed
//   NAME.partial/rows-RUN          rows of smaller levels whose blocks are not complete yet
//   NAME.partial/part-RUN-A-B      log of a process that computed only bands A to B
//   NAME.partial/segment-RUN-A-B   their blocks, if offsets in the result are not known in advance
//   NAME.partial/rows-RUN-A-B      their rows whose blocks need rows of neighbouring parts
//
// RUN is a random id of the checkpoint. It is in the first line of the log.
// A checkpoint is kept when its process ends if begin() was called. Files with other names are never touched.
// Writers that are created with CreateOptions::checkpoint write into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/resumable.hpp"

namespace sepconv {

class CheckpointLog;
class SampleCollector;
struct Sample;

/// A record of the log: completed bands of a raster.
struct CompletedBands {
  std::int64_t raster = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> bands{};  ///< half-open ranges
  std::int64_t pixels = 0;
  WriterState state{};
  StateFiles files{};
};

/// What the folder states when it is opened or inspected.
struct CheckpointState {
  bool exists = false;
  std::string run{};          ///< id of the run that began it
  std::string manifest{};     ///< the text passed to Checkpoint::begin(); empty before
  bool is_damaged = false;    ///< the first line of its log cannot be read
  bool is_committed = false;  ///< the result was renamed to the target; only the rest is to be removed
  bool is_named = false;      ///< the target is that result, as the samples prove; only of an open checkpoint
  bool is_cut_short = false;  ///< its log continues after a changed, missing or repeated line
  std::int64_t lost = 0;      ///< number of records that were ignored, as their data are missing
};

class Checkpoint {
 public:
  /// `alone`: one process computes the whole result, in one or more runs. `all_parts`: a result of several
  /// parts. `part`: one of several processes, each of which computes a part. `none`: only to discard the
  /// checkpoint.
  enum class Use : std::uint8_t { alone, all_parts, part, none };

  /// Opens the existing checkpoint of this file or folder, which is not created yet. Throws IoError if
  /// another process has locked the checkpoint, if the first line of the log is lost, if the folder is not a
  /// checkpoint, and for a part if the result was renamed.
  Checkpoint(const std::filesystem::path& target, Use use);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  /// Removes a checkpoint that was not begun, as it cannot be resumed.
  ~Checkpoint();

  static std::filesystem::path checkpoint_folder_of(const std::filesystem::path& target);
  /// Inspects a checkpoint, without a lock.
  static CheckpointState look(const std::filesystem::path& target);
  /// Removes the checkpoint of this run, or of any run if `run` is empty. Returns false if a checkpoint of
  /// another run exists. Throws IoError if another process has locked it or if the folder is not a
  /// checkpoint.
  static bool discard(const std::filesystem::path& target, const std::string& run = {});

  Use use() const noexcept { return use_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Before begin(), `run` is the id that it will write.
  const CheckpointState& state() const noexcept { return state_; }
  bool is_begun() const noexcept { return !state_.manifest.empty(); }
  /// Moves out the records that were read when the checkpoint was opened.
  std::vector<CompletedBands> take_records() noexcept { return std::exchange(records_, {}); }
  /// Throws IoError if the checkpoint is of another run; an empty `run` matches any.
  void check_run_id(const std::string& run) const;
  /// Throws IoError if the target is not the committed result.
  void check_is_named() const;
  /// Throws IoError if the target exists. For a result that must not replace anything.
  void check_name_is_free() const;

  /// Writes the description of the job, on one line.
  void begin(const std::string& manifest);
  /// Sets the function that returns the text of begin() if data have to be written before begin() was called.
  void set_manifest(std::function<std::string()> manifest) { manifest_ = std::move(manifest); }
  /// For a part: sets its bands, counted through all rasters.
  void begin_part(std::int64_t first_band, std::int64_t end_band);
  /// Adds a record of the data written since the last record.
  void append(CompletedBands record);
  /// Syncs the data and then the records to the disk. Thread-safe.
  void sync();
  /// For a part: syncs it to the disk and marks it as done. Throws as check_run_exists() does.
  void finish_part();
  /// Removes the checkpoint. Returns false if some of it remains.
  bool remove() noexcept;

  // For writers. `per_part`: of a file whose blocks are appended in the order of writing, so that each part
  // needs a separate file.

  /// Path of the file or folder to write to.
  std::filesystem::path place(bool per_part);
  /// Suffix of file names that several processes may write; empty for a single process.
  const std::string& suffix() const noexcept { return suffix_; }
  /// For a part: throws IoError unless its run is still the run of the checkpoint.
  void check_run_exists() const;
  /// Announces the size of the result.
  void expect(std::int64_t bytes) noexcept;
  /// Samples bytes that were written to place() and will not be overwritten. Thread-safe.
  void sample(bool per_part, std::int64_t offset, std::span<const std::byte> bytes);
  /// The same for a file in the folder place(). `file_bytes`: size of a file that is complete.
  void sample_file(const std::string& name, std::int64_t offset, std::span<const std::byte> bytes,
                   std::optional<std::int64_t> file_bytes = {});
  /// Stores rows of incomplete blocks; returns their offset in StateFiles::rows.
  std::int64_t keep(std::span<const std::byte> rows);
  /// Syncs the complete result, renames it to the target and removes the rest. Throws IoError, also if the
  /// target exists and `replaces` is false; the checkpoint is kept then.
  void commit(bool replaces);

 private:
  using IsValid = std::function<bool(const Sample&)>;
  void open_existing();
  void open_folder();
  void open_log();
  void close_files() noexcept;
  std::int64_t read_records(const CheckpointLog& log, const IsValid& is_valid);
  std::int64_t read_parts(const IsValid& is_valid);
  bool has_valid_sample(const Sample& sample) const;
  bool target_matches_samples();

  void create_folder();
  void create_log();
  CheckpointLog& log_of_records();
  CheckpointLog* log_of_samples();
  void open_rows();
  void sync_before(const std::function<void()>& write_entry);
  void restore_replaced() const noexcept;
  void rename_result(bool replaces);
  std::filesystem::path result() const;
  std::string final_name(const char* what) const;
  std::string unfinished_name(const char* what) const;

  std::filesystem::path name_, folder_;  // symbolic links resolved
  Use use_;
  CheckpointState state_;
  std::string suffix_, part_;
  std::function<std::string()> manifest_;
  int lock_ = -1, rows_ = -1;  // the folder, and the file of rows
  std::int64_t rows_end_ = 0;
  std::mutex creation_mutex_;
  std::unique_ptr<CheckpointLog> log_, part_log_;
  bool is_created_ = false;
  std::vector<CompletedBands> records_;
  std::unique_ptr<SampleCollector> samples_;
};

}  // namespace sepconv
