// Folders in the making, under hidden names next to their targets: a rename completes them. Private to io/.
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

#include "io/incomplete_output.hpp"

namespace sepconv {

class Checkpoint;

/// The constructor checks and makes nothing; the first file makes the folder, locked and marked as
/// unfinished; commit() takes the mark away and gives it its name; the destructor of one that was not
/// committed removes it. What a killed process left, by lock and mark, is removed by the next one that writes
/// the same target.
class StagingDirectory {
 public:
  struct Options {
    bool overwrite = false;  ///< a Zarr of this name is replaced, and never another folder
    bool durable = false;
    std::shared_ptr<Checkpoint> partial{};  ///< it grows in this and stays there without a commit
  };
  /// Throws IoError: the target exists, or its folder does not or is not writable.
  StagingDirectory(std::filesystem::path target, Options options);
  StagingDirectory(const StagingDirectory&) = delete;
  StagingDirectory& operator=(const StagingDirectory&) = delete;
  ~StagingDirectory();

  const std::filesystem::path& target() const noexcept { return target_; }
  /// Null: what is not committed is removed.
  const std::shared_ptr<Checkpoint>& partial() const noexcept { return options_.partial; }
  /// Where it grows; the first call makes it.
  const std::filesystem::path& place();
  /// What is to be said before the first file is written.
  void add_warnings(std::vector<std::string>& warnings) const;

  /// Makes a file of these bytes, and the folders that it lies in. Thread-safe; each name once. Throws
  /// IoError.
  void add(const std::string& name, std::span<const std::byte> bytes);
  /// Writes at an offset of a file that becomes complete by complete_part(); the first write makes it.
  void write_part(const std::string& name, bool is_first, std::int64_t offset,
                  std::span<const std::byte> bytes);
  /// It has this many bytes.
  void complete_part(const std::string& name, std::int64_t bytes);
  /// Reads such a file, of this many bytes at least, and removes it.
  void take_part(const std::string& name, std::span<std::byte> bytes);
  /// Makes a file of another process one again that is not complete, of this many bytes.
  void reopen_part(const std::string& name, std::int64_t bytes);

  /// What is added from now on, and what is a chunk by its name, is all that a partial one has to hold.
  void begin_rest(std::function<bool(const std::string& name)> is_chunk) { is_chunk_ = std::move(is_chunk); }

  /// Throws IoError; then the folder is removed. Without overwrite, a target that has appeared since is not
  /// replaced.
  void commit();

 private:
  void make_place();
  /// Makes, locks and marks it. False: another process took it for an empty one that was left.
  bool take_place(bool is_last);
  std::filesystem::path part_of(const std::string& name);
  void name_part(const std::string& name);
  void note(const std::string& name);
  void remove_parts(const std::filesystem::path& made) const;
  [[noreturn]] void throw_failed(const std::filesystem::path& file, int error) const;
  int open_new(const std::filesystem::path& file, int flags);
  void write(const std::filesystem::path& file, int flags, std::int64_t offset,
             std::span<const std::byte> bytes);
  void discard() noexcept;

  std::filesystem::path target_;
  Options options_;
  std::vector<std::filesystem::path> leftovers_;
  std::mutex making_;
  std::filesystem::path place_;
  int lock_ = -1;
  std::function<bool(const std::string& name)> is_chunk_;
  std::set<std::string> added_;  // since it was told what is a chunk
};

/// Whether a folder has what is at the top of a Zarr, complete or not.
bool has_zarr_metadata(const std::filesystem::path& folder);

}  // namespace sepconv
