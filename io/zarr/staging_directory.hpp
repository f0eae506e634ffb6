// A result folder that is written under a hidden name next to its target and renamed when complete. Private
// to io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/checkpoint/folder.hpp"

namespace sepconv {

class Checkpoint;

/// The constructor only checks the target. The first file creates the folder, locked and marked as
/// unfinished. commit() removes the mark and renames the folder to the target. The destructor removes an
/// uncommitted folder. The folder of a killed process, recognized by lock and mark, is removed by the next
/// process that writes the same target.
class StagingDirectory {
 public:
  struct Options {
    bool overwrite = false;                    ///< replaces an existing Zarr, but never another folder
    bool durable = false;                      ///< flushes the files to the disk
    std::shared_ptr<Checkpoint> checkpoint{};  ///< the folder is created in it and survives without a commit
  };
  /// Throws IoError if the target exists, or if its folder does not exist or is not writable.
  StagingDirectory(std::filesystem::path target, Options options);
  StagingDirectory(const StagingDirectory&) = delete;
  StagingDirectory& operator=(const StagingDirectory&) = delete;
  ~StagingDirectory();

  const std::filesystem::path& target() const noexcept { return target_; }
  /// Null if an uncommitted folder is to be removed.
  const std::shared_ptr<Checkpoint>& checkpoint() const noexcept { return options_.checkpoint; }
  /// The unfinished folder; the first call creates it.
  const std::filesystem::path& path();
  /// Adds warnings for the user before the first file is written.
  void add_warnings(std::vector<std::string>& warnings) const;

  /// Creates a file with these bytes, and its parent folders. Each name may be added once. Thread-safe.
  /// Throws IoError.
  void add(const std::string& name, std::span<const std::byte> bytes);
  /// Writes at an offset of an incomplete file, which the first write creates and complete_part() completes.
  void write_part(const std::string& name, bool is_first, std::int64_t offset,
                  std::span<const std::byte> bytes);
  /// Completes a file of this many bytes.
  void complete_part(const std::string& name, std::int64_t bytes);
  /// Reads the first bytes of an incomplete file and removes it.
  void read_and_remove_part(const std::string& name, std::span<std::byte> bytes);
  /// Reopens a file of another process as an incomplete file, truncated to this many bytes.
  void reopen_part(const std::string& name, std::int64_t bytes);

  /// With a checkpoint, commit() accepts only files added after this call and files whose name is a chunk's.
  void set_chunk_filter(std::function<bool(const std::string& name)> is_chunk) {
    is_chunk_ = std::move(is_chunk);
  }

  /// Throws IoError and removes the folder on failure. Without overwrite, a target that was created in the
  /// meantime is not replaced.
  void commit();

 private:
  void create_folder();
  /// Creates, locks and marks the folder. Returns false if another process removed it as a stale empty
  /// folder.
  bool create_locked(bool is_last);
  std::filesystem::path part_path(const std::string& name);
  void rename_part(const std::string& name);
  void record_added(const std::string& name);
  void remove_parts(const std::filesystem::path& folder) const;
  [[noreturn]] void throw_failed(const std::filesystem::path& file, int error) const;
  int open_new(const std::filesystem::path& file, int flags);
  void write(const std::filesystem::path& file, int flags, std::int64_t offset,
             std::span<const std::byte> bytes);
  void discard() noexcept;

  std::filesystem::path target_;
  Options options_;
  std::vector<std::filesystem::path> leftovers_;
  std::mutex mutex_;
  std::filesystem::path path_;
  int lock_ = -1;
  std::function<bool(const std::string& name)> is_chunk_;
  std::set<std::string> added_;  // since set_chunk_filter()
};

/// Whether a folder has the metadata of a Zarr or the mark of an unfinished one.
bool has_zarr_metadata(const std::filesystem::path& folder);

}  // namespace sepconv
