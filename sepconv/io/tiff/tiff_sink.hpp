// The file that a writer makes: blocks get their places one after another, the directory comes last.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/formats.hpp"
#include "sepconv/io/tiff/tiff_directory.hpp"

namespace sepconv {

/// Libtiff keeps the books and writes the directory; the blocks' bytes go past it, from many threads at once.
class TiffSink {
 public:
  /// Checks the target and all fields; makes no file yet. Throws IoError.
  TiffSink(const std::filesystem::path& path, const TiffDirectory& directory, const CreateOptions& options);
  ~TiffSink();

  const TiffDirectory& directory() const noexcept { return directory_; }
  const std::string& name() const noexcept { return file_.target().native(); }
  /// Those of the options that it was made with, and the file's.
  void add_warnings(std::vector<std::string>& warnings) const {
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
    file_.add_warnings(warnings);
  }

  /// Enters a block of `bytes` into the tables, behind the one entered before; returns its offset. From one
  /// thread at a time.
  std::int64_t place(std::int64_t block_index, std::int64_t bytes);
  /// Lets the next block begin at a multiple of `bytes`.
  void align(std::int64_t bytes) noexcept;
  /// Where the next block goes.
  std::int64_t next_offset() const noexcept;
  /// Writes bytes of a block to where it was placed. Thread-safe.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes) { file_.write_at(offset, bytes); }

  /// Writes directory and header and gives the file its name.
  void finish();

  /// Upper bound of the memory of all this.
  std::int64_t memory_bytes() const;

 private:
  class Books;

  TiffDirectory directory_;
  std::int64_t metadata_bytes_;
  std::vector<std::string> warnings_;
  OutputFile file_;
  std::unique_ptr<Books> books_;
  TiffHandle handle_;
};

}  // namespace sepconv
