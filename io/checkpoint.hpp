// A result that is made in several runs. What there is of it lies in a folder next to it until it is complete:
//
//   NAME.partial/journal           what it is made of, and what is done; its first line is on the disk
//   NAME.partial/journal-RUN       that, until it has its first line
//   NAME.partial/result-RUN        a file or a folder, which becomes NAME and then is not there
//   NAME.partial/replaced          the folder that had the name before, until the result has it
//   NAME.partial/rows-RUN          rows of smaller levels that wait for others to be written with
//   NAME.partial/part-RUN-A-B      what a process that made bands A to B alone has done, as a journal
//   NAME.partial/segment-RUN-A-B   blocks of these, if their places in the result are not known before
//   NAME.partial/rows-RUN-A-B      rows of these that wait for those of neighbouring parts
//
// RUN is a random id that the process draws when it creates the checkpoint; the first line of the log has it.
// A checkpoint stays when its process ends, unless nothing was begun. Files with other names are never
// touched. Writers that are made with CreateOptions::partial write into it.
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

/// Bands of a raster that are done.
struct CompletedBands {
  std::int64_t raster = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> bands{};  ///< ranges, each with its end
  std::int64_t pixels = 0;
  WriterState state{};
  StateFiles files{};
};

class Checkpoint {
 public:
  /// Alone with a result that is made in one run after another, or with one of parts; or one of several
  /// processes that make a part each; or to be removed, whatever it is.
  enum class Use : std::uint8_t { alone, all_parts, part, none };

  /// For a file or folder of this name, which is not made. What is there is opened; records whose bytes are
  /// not there are left out. Throws IoError, also where another process holds it, where the journal has lost
  /// its first line, for a folder that is none of a partial result, and of a part where is_committed().
  Checkpoint(const std::filesystem::path& target, Use use);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();

  static std::filesystem::path folder_of_target(const std::filesystem::path& target);
  /// Whether there is one, whatever has become of it.
  static bool is_there(const std::filesystem::path& target);
  /// For who only looks.
  struct Seen {
    std::string beginning{};  ///< "": there is none yet
    std::string run{};
    bool is_damaged = false;    ///< it had one that cannot be read
    bool is_committed = false;  ///< its result was given its name: what is left is a killed run's
  };
  static Seen look(const std::filesystem::path& target);
  /// Removes it, if there is one: that of this run, or with "" whatever there is. False: another stays.
  /// Throws IoError where another process holds it, and for what is there and is not a partial result.
  static bool discard(const std::filesystem::path& target, const std::string& run = {});

  Use use() const noexcept { return use_; }
  /// Its result was given its name, as the journal says. Nothing is left but to remove() the rest.
  bool is_committed() const noexcept { return is_committed_; }
  /// And what lies there is it, as the samples of its records prove.
  bool is_named() const noexcept { return is_named_; }
  /// Throws IoError where it is not of this run; "": whatever it is of.
  void check_is_of(const std::string& run) const;
  /// Throws IoError for what is_committed() and not is_named().
  void check_is_named() const;
  /// Throws IoError where something has its name, of a result that is to replace nothing.
  void check_name_is_free() const;
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// For what is begun, or of what begin() begins.
  const std::string& run() const noexcept { return run_; }
  /// What begin() was given; "" before.
  const std::string& beginning() const noexcept { return beginning_; }
  /// What is done, as it was when this was opened; they are the caller's then.
  std::vector<CompletedBands> take_records() noexcept { return std::exchange(records_, {}); }
  /// How many were left out.
  std::int64_t lost() const noexcept { return lost_; }
  /// Whether the journal has more, behind a line that was changed, is missing or there twice.
  bool is_cut_short() const noexcept;

  /// Writes what it is made of, on one line.
  void begin(const std::string& text);
  /// What begin() is given when something has to be written before it was called.
  void will_begin(std::function<std::string()> text) { upcoming_ = std::move(text); }
  /// For a part: it has these bands, counted through all rasters.
  void begin_part(std::int64_t first_band, std::int64_t end_band);
  /// Adds a record of what was written since the last.
  void append(CompletedBands record);
  /// Brings the records so far to the disk, behind their data. From any thread.
  void sync();
  /// For a part: throws IoError unless the run that it is a part of is the one that is there.
  void check_is_of_run() const;
  /// For a part: brings it to the disk, and says that it is done. Throws as check_is_of_run() does.
  void finish_part();
  /// Removes all that is there of it. False: some of it stays.
  bool remove() noexcept;

  // For writers.

  /// The file or the folder to write to. `own`: one whose blocks follow each other as they come, so that each
  /// part has one of its own.
  std::filesystem::path place(bool own);
  /// What a name gets of which several processes may write what has it. Empty for who is alone.
  const std::string& suffix() const noexcept { return suffix_; }
  /// The result will have this many bytes.
  void expect(std::int64_t bytes) noexcept;
  /// These bytes of what place() returned, or of a file in it, were written and stay as they are.
  /// Thread-safe.
  void sample(bool own, std::int64_t offset, std::span<const std::byte> bytes);
  void sample(const std::string& name, std::span<const std::byte> bytes, std::int64_t offset);
  /// A file in it has its last byte, of this many, of which these are the first.
  void sample_whole(const std::string& name, std::int64_t file_bytes, std::span<const std::byte> bytes);
  /// Keeps rows that wait for others; returns their offset in StateFiles::rows.
  std::int64_t keep(std::span<const std::byte> rows);
  /// The result is complete: it is brought to the disk, then gets its name, and what is left is removed.
  /// Throws IoError, also for what is there of this name, unless that is to be replaced; then it stays.
  void commit(bool replaces);

 private:
  void sync_then(const std::function<void()>& say);
  void open_existing();
  void open_folder();
  void open_journal();
  void look_for_its_name();
  void close_folder() noexcept;
  void put_back() const noexcept;
  void name_result(bool replaces);
  void make_folder();
  void make_journal();
  std::int64_t read_records(CheckpointLog& journal, const std::function<bool(const Sample&)>& is_there);
  bool has_sample_of(const Sample& sample) const;
  bool is_under_its_name();
  void read_journal();
  std::int64_t read_parts(const std::function<bool(const Sample&)>& is_there);
  CheckpointLog& journal();
  CheckpointLog* journal_of_samples();
  bool remove_content() const noexcept;
  bool remove_names(bool (*goes)(std::string_view name)) const noexcept;
  std::filesystem::path result() const;
  std::string named(const char* what) const;
  std::string written_as(const char* what) const;

  std::filesystem::path name_, folder_;  // behind links
  Use use_;
  std::string run_, suffix_, part_, beginning_;
  std::function<std::string()> upcoming_;
  int lock_ = -1;
  std::mutex making_;
  std::unique_ptr<CheckpointLog> journal_, part_journal_;
  bool is_made_ = false, is_committed_ = false, is_named_ = false;
  std::vector<CompletedBands> records_;
  std::int64_t lost_ = 0;
  std::unique_ptr<class PartialSamples> samples_;
  std::unique_ptr<class RowSpillFile> rows_;
};

}  // namespace sepconv
