// A result that is computed in several runs. Its data are kept in a folder next to the target until complete:
//
//   NAME.partial/journal           the job and its completed bands; its first line is on the disk
//   NAME.partial/journal-RUN       the journal until its first line is on the disk
//   NAME.partial/result-RUN        a file or a folder, which is renamed to NAME at the end
//   NAME.partial/replaced          the previous folder NAME, until the result is renamed
//   NAME.partial/rows-RUN          rows of smaller levels whose blocks are not complete yet
//   NAME.partial/part-RUN-A-B      journal of a process that computed only bands A to B
//   NAME.partial/segment-RUN-A-B   their blocks, if offsets in the result are not known in advance
//   NAME.partial/rows-RUN-A-B      their rows whose blocks need rows of neighbouring parts
//
// RUN is a random id of the checkpoint. It is in the first line of the journal.
// A checkpoint is kept when its process ends if begin() was called. Files with other names are never touched.
// Writers that are created with CreateOptions::partial write into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/resumable.hpp"

namespace sepconv {

class CheckpointLog;
struct Sample;

/// Completed bands of a raster.
struct CompletedBands {
  std::int64_t raster = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> bands{};  ///< half-open ranges
  std::int64_t pixels = 0;
  WriterState state{};
  StateFiles files{};
};

class Checkpoint {
 public:
  /// `alone`: one process computes the whole result, in one or more runs. `all_parts`: a result of several
  /// parts. `part`: one of several processes, each of which computes a part. `none`: only to discard the
  /// checkpoint.
  enum class Use : std::uint8_t { alone, all_parts, part, none };

  /// Opens the existing checkpoint of this file or folder, which is not created yet. Records whose data are
  /// missing are ignored. Throws IoError if another process has locked the checkpoint, if the first line of
  /// the journal is lost, if the folder is not a checkpoint, and for a part if is_committed().
  Checkpoint(const std::filesystem::path& target, Use use);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();

  static std::filesystem::path checkpoint_folder_of(const std::filesystem::path& target);
  /// Whether a checkpoint exists, in any state.
  static bool is_there(const std::filesystem::path& target);
  /// State of a checkpoint that is only inspected.
  struct Seen {
    std::string beginning{};  ///< empty before begin()
    std::string run{};
    bool is_damaged = false;    ///< its first line cannot be read
    bool is_committed = false;  ///< the result was renamed; the rest is left over from a killed run
  };
  static Seen look(const std::filesystem::path& target);
  /// Removes the checkpoint of this run, or of any run if `run` is empty. Returns false if a checkpoint of
  /// another run exists. Throws IoError if another process has locked it or if the folder is not a
  /// checkpoint.
  static bool discard(const std::filesystem::path& target, const std::string& run = {});

  Use use() const noexcept { return use_; }
  /// Whether the journal says that the result was renamed to the target. Only remove() remains to be done.
  bool is_committed() const noexcept { return is_committed_; }
  /// Whether the target is that result, as the samples of the records prove.
  bool is_named() const noexcept { return is_named_; }
  /// Throws IoError if it belongs to another run; an empty `run` matches any.
  void check_run_id(const std::string& run) const;
  /// Throws IoError if is_committed() but not is_named().
  void check_is_named() const;
  /// Throws IoError if the target exists. For a result that must not replace anything.
  void check_name_is_free() const;
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Id of the run that began it, or of this process before begin().
  const std::string& run() const noexcept { return run_; }
  /// The text passed to begin(); empty before.
  const std::string& beginning() const noexcept { return beginning_; }
  /// Moves out the records that were read when the checkpoint was opened.
  std::vector<CompletedBands> take_records() noexcept { return std::exchange(records_, {}); }
  /// Number of records that were ignored.
  std::int64_t lost() const noexcept { return lost_; }
  /// Whether the journal continues after a changed, missing or repeated line.
  bool is_cut_short() const noexcept;

  /// Writes the description of the job, on one line.
  void begin(const std::string& text);
  /// Sets the function that returns the text of begin() if data have to be written before begin() was called.
  void set_begin_text(std::function<std::string()> text) { begin_text_ = std::move(text); }
  /// For a part: sets its bands, counted through all rasters.
  void begin_part(std::int64_t first_band, std::int64_t end_band);
  /// Adds a record of the data written since the last record.
  void append(CompletedBands record);
  /// Syncs the data and then the records to the disk. Thread-safe.
  void sync();
  /// For a part: throws IoError unless its run is still the run of the checkpoint.
  void check_run_exists() const;
  /// For a part: syncs it to the disk and marks it as done. Throws as check_run_exists() does.
  void finish_part();
  /// Removes the checkpoint. Returns false if some of it remains.
  bool remove() noexcept;

  // For writers.

  /// Path of the file or folder to write to. `per_part`: for a file whose blocks are appended in the order of
  /// writing, so that each part needs a separate file.
  std::filesystem::path place(bool per_part);
  /// Suffix of file names that several processes may write; empty for a single process.
  const std::string& suffix() const noexcept { return suffix_; }
  /// Announces the size of the result.
  void expect(std::int64_t bytes) noexcept;
  /// Samples bytes that were written to place(), or to a file in it, and will not be overwritten.
  /// Thread-safe.
  void sample(bool per_part, std::int64_t offset, std::span<const std::byte> bytes);
  void sample(const std::string& name, std::span<const std::byte> bytes, std::int64_t offset);
  /// Samples a complete file of `file_bytes` bytes; `bytes` are its first.
  void sample_whole(const std::string& name, std::int64_t file_bytes, std::span<const std::byte> bytes);
  /// Stores rows of incomplete blocks; returns their offset in StateFiles::rows.
  std::int64_t keep(std::span<const std::byte> rows);
  /// Syncs the complete result, renames it to the target and removes the rest. Throws IoError, also if the
  /// target exists and `replaces` is false; the checkpoint is kept then.
  void commit(bool replaces);

 private:
  void sync_before(const std::function<void()>& write_entry);
  void open_existing();
  void open_folder();
  void open_journal();
  void check_committed_result();
  void close_folder() noexcept;
  void restore_replaced() const noexcept;
  void rename_result(bool replaces);
  void create_folder();
  void create_journal();
  std::int64_t read_records(CheckpointLog& journal, const std::function<bool(const Sample&)>& is_valid);
  bool has_valid_sample(const Sample& sample) const;
  bool target_matches_samples();
  void read_journal();
  std::int64_t read_parts(const std::function<bool(const Sample&)>& is_valid);
  CheckpointLog& journal();
  CheckpointLog* journal_of_samples();
  bool remove_content() const noexcept;
  bool remove_entries(bool (*is_removable)(std::string_view name)) const noexcept;
  std::filesystem::path result() const;
  std::string final_name(const char* what) const;
  std::string unfinished_name(const char* what) const;

  std::filesystem::path name_, folder_;  // symbolic links resolved
  Use use_;
  std::string run_, suffix_, part_, beginning_;
  std::function<std::string()> begin_text_;
  int lock_ = -1;
  std::mutex creation_mutex_;
  std::unique_ptr<CheckpointLog> journal_, part_journal_;
  bool is_created_ = false, is_committed_ = false, is_named_ = false;
  std::vector<CompletedBands> records_;
  std::int64_t lost_ = 0;
  std::unique_ptr<class PartialSamples> samples_;
  std::unique_ptr<class RowSpillFile> rows_;
};

}  // namespace sepconv
