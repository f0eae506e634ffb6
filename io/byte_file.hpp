// Files as bytes: reading at offsets, and writing under a temporary name that becomes the target only when
// complete.
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

/// An open regular file. Move-only, owns its descriptor. All errors are IoError, one sentence that names the
/// file.
class InputFile {
 public:
  enum class Folders : std::uint8_t { refused, taken };
  /// Throws IoError for a missing file, a folder that is not `taken`, an unreadable or an empty file. Where
  /// folders are taken, names below a file, which may be an archive of them, are inner().
  explicit InputFile(const std::filesystem::path& path, Folders folders = Folders::refused);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::int64_t size() const noexcept { return size_; }
  /// When it was last changed before it was opened, in nanoseconds since 1970.
  std::int64_t changed_ns() const noexcept { return changed_ns_; }
  int descriptor() const noexcept { return descriptor_; }
  const std::string& inner() const noexcept { return inner_; }
  /// Then it has no bytes.
  bool is_folder() const noexcept { return is_folder_; }
  /// Whether it was written to since it was opened, as its size and time say; of a folder nothing is known.
  bool has_changed() const;

  /// Fills `bytes` from `offset`. Thread-safe. Throws IoError when the file ends before (it says where) or
  /// cannot be read.
  void read_at(std::int64_t offset, std::span<std::byte> bytes) const;
  /// As many of `bytes` as the file holds from `offset` on; returns the number. For sniffing and for codecs.
  std::int64_t read_some_at(std::int64_t offset, std::span<std::byte> bytes) const;

 private:
  void look(Folders folders);

  std::filesystem::path path_;
  std::int64_t size_ = 0;
  std::int64_t changed_ns_ = 0;
  int descriptor_ = -1;
  bool is_folder_ = false;
  std::string inner_;
};

/// A file in the making. The constructor checks (folder exists and is writable, target is absent or may be
/// replaced, is not a folder) and makes nothing; the first write makes a temporary file in the target's folder;
/// commit() renames it to the target; the destructor of one that was not committed removes it. What a killed
/// process left, by lock and mark, is removed by the next one that writes the same target; what may be
/// somebody's own is named.
class OutputFile {
 public:
  struct Options {
    bool overwrite = false;  ///< else a target that exists is an IoError that names CreateOptions::overwrite
    bool durable = false;    ///< fsync the file before, and the folder after, the rename
    std::shared_ptr<Checkpoint> partial{};  ///< it grows in this and stays there without a commit, which is
                                            ///< Checkpoint::commit()
    bool own = false;                       ///< see Checkpoint::place
  };
  OutputFile(const std::filesystem::path& target, Options options);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& target() const noexcept { return target_; }
  /// Null: what is not committed is removed.
  const std::shared_ptr<Checkpoint>& partial() const noexcept { return options_.partial; }

  /// The file will have at least this many bytes: the first write throws IoError if there is no room for them.
  void expect(std::int64_t bytes) noexcept;
  /// What is to be said before the first write, a sentence each: what lies next to the name, what killed runs
  /// left, and that there is no room.
  void add_warnings(std::vector<std::string>& warnings) const;

  /// Writes all of `bytes` at `offset`. Thread-safe. Throws IoError (disk full is named as such).
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// The same of bytes that nothing else is written over.
  void write_pixels_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// As InputFile::read_some_at, of what was written so far. Codecs read back their directories.
  std::int64_t read_some_at(std::int64_t offset, std::span<std::byte> bytes);
  /// Sets the length; what was never written reads as zeros.
  void resize(std::int64_t bytes);
  /// Gives the file its name. Throws IoError; then the temporary file is removed. Without overwrite, a target
  /// that has appeared since is not replaced.
  void commit();

 private:
  int descriptor();  // makes the temporary file on first use; thread-safe
  void make_temporary();
  TemporaryFile open_partial(mode_t mode);
  int rename_into_place(int file) const;
  void discard() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  Options options_;
  Leftovers leftovers_;
  std::int64_t expected_bytes_ = 0;
  std::mutex making_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace sepconv
