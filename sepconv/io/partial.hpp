// A result that is made in several runs. What there is of it lies in a folder beside it until it is complete:
//
//   NAME.partial/journal       what it is made of, and what is done
//   NAME.partial/result        a file or a folder, which becomes NAME
//   NAME.partial/held-N        pixels that wait for others to be written with
//   NAME.partial/part-A-B      what a process that made bands A to B alone has done
//   NAME.partial/segment-A-B   blocks of these, where their places in the result depend on what lies before
//
// It stays when its process ends. Writers that are made with CreateOptions::partial write into it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sepconv/io/resumable.hpp"

namespace sepconv {

class JournalFile;

/// Some bytes of the result, by which it is known again.
struct Sample {
  std::string name;  ///< of a file in it; "" for itself
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

/// Bands of a raster that are done.
struct DoneRecord {
  std::int64_t raster = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> bands{};  ///< ranges, each with its end
  std::int64_t pixels = 0;
  WriterState state{};
  std::vector<Sample> samples{};
  std::filesystem::path segment{};  ///< empty: the bytes are in the result
};

class Partial {
 public:
  /// Alone with it, or one of several processes that make a part each.
  enum class Use : std::uint8_t { alone, part };

  /// Of a file or folder of this name, which is not made. What is there is opened; records whose bytes are
  /// not there are left out. Throws IoError, also where another process holds it.
  Partial(const std::filesystem::path& target, Use use);
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  ~Partial();

  static std::filesystem::path folder_of_target(const std::filesystem::path& target);
  /// What becomes the target.
  static std::filesystem::path result_in(const std::filesystem::path& folder);
  /// Whether there is one. Opens nothing.
  static bool is_there(const std::filesystem::path& target);
  /// What one begins with, for who only looks; "" if there is none.
  static std::string beginning_of(const std::filesystem::path& target);
  /// Removes it, if there is one. Throws IoError where another process holds it.
  static void discard(const std::filesystem::path& target);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// What begin() was given; "" before.
  const std::string& beginning() const noexcept { return beginning_; }
  const std::vector<DoneRecord>& records() const noexcept { return records_; }
  /// How many were left out.
  std::int64_t lost() const noexcept { return lost_; }

  /// Writes what it is made of, on one line.
  void begin(const std::string& text);
  /// Adds a record of what was written since the last; its samples are filled in.
  void append(DoneRecord record);
  /// Brings the records so far to the disk, behind their data. From any thread.
  void sync();
  /// Of a part: brings it to the disk, and says that it is done.
  void finish_part(DoneRecord record);

  // For writers.

  /// The file or the folder to write to. `own`: one whose blocks follow each other as they come, so that each
  /// part has one of its own.
  std::filesystem::path place(bool own);
  /// What a name gets of which several processes may write what has it. Empty for who is alone.
  const std::string& suffix() const noexcept { return suffix_; }
  /// The result will have so many bytes.
  void expect(std::int64_t bytes) noexcept;
  /// These bytes were written and stay as they are. Thread-safe.
  void sample(const std::string& name, std::int64_t offset, std::span<const std::byte> bytes);
  /// The result has its name, or is not wanted.
  void remove() noexcept;

 private:
  void open_folder();
  void make_folder();
  void read_journal();
  void read_parts();
  bool is_whole(const DoneRecord& record) const;
  std::vector<Sample> take_samples();

  std::filesystem::path target_, folder_;
  Use use_;
  std::string suffix_, beginning_;
  int lock_ = -1;
  std::mutex making_;
  std::unique_ptr<JournalFile> journal_;
  bool is_made_ = false;
  std::vector<DoneRecord> records_;
  std::int64_t lost_ = 0;
  std::atomic<std::int64_t> stride_;
  std::atomic<bool> has_samples_ = false;
  std::mutex sampling_;
  std::vector<Sample> samples_;
  std::int64_t oldest_held_ = 0;  // of the files of held pixels that may be there
};

}  // namespace sepconv
