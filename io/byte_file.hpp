// Byte access to files: reads at offsets, and writes to a temporary file that is renamed to the target when
// it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "io/temporary_file.hpp"

namespace sepconv {

class Checkpoint;
class MappedStore;

/// An open regular file. Move-only; owns its descriptor. All errors are IoError with one sentence that names
/// the file.
class InputFile {
 public:
  enum class Folders : std::uint8_t { refused, taken };
  /// Throws IoError if the file is missing, unreadable or empty, or if it is a folder and folders are
  /// refused. With Folders::taken a path may continue below a file, for example an archive; inner() is that
  /// rest.
  explicit InputFile(const std::filesystem::path& path, Folders folders = Folders::refused);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::int64_t size() const noexcept { return size_; }
  /// Time of the last change before opening, in nanoseconds since 1970.
  std::int64_t changed_ns() const noexcept { return changed_ns_; }
  int descriptor() const noexcept { return descriptor_; }
  const std::string& inner() const noexcept { return inner_; }
  /// Whether the path is a folder, which has no bytes.
  bool is_folder() const noexcept { return is_folder_; }
  /// Whether size or time have changed since the file was opened; false for a folder.
  bool has_changed() const;

  /// Fills `bytes` from `offset`. Thread-safe. Throws IoError if the file ends before (the message gives the
  /// offset) or cannot be read.
  void read_at(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Reads up to `bytes.size()` bytes from `offset` on and returns the number read. Used for format detection
  /// and by codecs.
  std::int64_t read_some_at(std::int64_t offset, std::span<std::byte> bytes) const;

 private:
  void read_status(Folders folders);

  std::filesystem::path path_;
  std::int64_t size_ = 0;
  std::int64_t changed_ns_ = 0;
  int descriptor_ = -1;
  bool is_folder_ = false;
  std::string inner_;
};

/// An output file. The constructor checks that the folder exists and is writable and that the target is not a
/// folder and may be created or replaced; it creates nothing. The first write creates a temporary file in the
/// target's folder. commit() renames it to the target. The destructor removes an uncommitted file. Temporary
/// files of killed processes, identified by lock and mark, are removed by the next OutputFile for the same
/// target. Files that may belong to other processes are only reported.
class OutputFile {
 public:
  struct Options {
    bool overwrite = false;                    ///< if false, an existing target is an IoError that names
                                               ///< CreateOptions::overwrite
    bool durable = false;                      ///< fsync the file before, and the folder after, the rename
    std::shared_ptr<Checkpoint> checkpoint{};  ///< The file is written in this checkpoint and kept without a
                                               ///< commit; commit() calls Checkpoint::commit().
    bool per_part = false;                     ///< separate file for each part, see Checkpoint::place()
  };
  OutputFile(const std::filesystem::path& target, Options options);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& target() const noexcept { return target_; }
  /// Null if an uncommitted file is removed.
  const std::shared_ptr<Checkpoint>& checkpoint() const noexcept { return options_.checkpoint; }

  /// Announces the minimum size of the file. The first write reserves it where that takes no time, and throws
  /// IoError if the free space is less.
  void expect(std::int64_t bytes);
  /// Adds warnings about files next to the target, leftovers of killed runs and insufficient free space, one
  /// sentence each.
  void add_warnings(std::vector<std::string>& warnings) const;

  /// Writes all of `bytes` at `offset`. Thread-safe. Throws IoError (disk full is named as such).
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Number of threads that write large pieces at the same time if many run: more than 1 after expect() of a
  /// large file, on file systems whose mapped files are written faster.
  int max_write_threads() const noexcept;
  /// Prepares the file, which it creates, for writes of this many threads at the same time. Returns the number.
  int begin_writes(int threads);
  /// Upper bounds: of the threads, of `concurrency`, that write, and of the resident memory of their writes.
  int write_threads_bound(int concurrency) const noexcept;
  std::int64_t memory_bytes(int concurrency) const noexcept;
  /// As write_at(), for bytes that are never overwritten.
  void write_pixels_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// As InputFile::read_some_at(), for the bytes written so far. Codecs read back their directories.
  std::int64_t read_some_at(std::int64_t offset, std::span<std::byte> bytes);
  /// Sets the length. Bytes that were never written read as zeros.
  void resize(std::int64_t bytes);
  /// Renames the temporary file to the target. Throws IoError after removing the temporary file. Without
  /// overwrite, a target that was created meanwhile is not replaced.
  void commit();

 private:
  int descriptor();  // creates the temporary file at the first call; thread-safe
  void create_temporary();
  TemporaryFile open_in_checkpoint(mode_t mode);
  void note_written(std::int64_t offset, std::span<const std::byte> bytes) const noexcept;
  int rename_into_place(int file) const;
  void discard() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  Options options_;
  Leftovers leftovers_;
  std::int64_t expected_bytes_ = 0;
  std::mutex creation_mutex_;
  int descriptor_ = -1;
  std::unique_ptr<MappedStore> mapped_;  // of a large file until it is complete
  bool committed_ = false;
};

}  // namespace sepconv
