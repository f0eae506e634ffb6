// The page that a writer makes: blocks get their places one after another, the directory comes last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sepconv/io/formats.hpp"
#include "sepconv/io/tiff/tiff_directory.hpp"
#include "sepconv/io/tiff/tiff_output.hpp"

namespace sepconv {

/// Where a page goes whose size is known beforehand. ImageJ's stacks have the first directory before all
/// planes, the planes one behind the other, and the other directories, if there are any, behind them.
struct TiffPlace {
  std::int64_t pixels = 0;     ///< offset
  std::int64_t directory = 0;  ///< offset of so many bytes:
  std::int64_t directory_bytes = 0;
  bool listed = true;  ///< whether the page gets a directory; else the first one speaks for it
};

/// Libtiff keeps the books and writes the directory; the blocks' bytes go past it, from many threads at once.
class TiffSink {
 public:
  /// Checks all fields; makes no file yet. A page that is not one of several is all of its file. Throws
  /// IoError.
  TiffSink(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory, const CreateOptions& options,
           bool one_of_several, std::optional<TiffPlace> place = {});
  ~TiffSink();

  const TiffDirectory& directory() const noexcept { return directory_; }
  const std::string& name() const noexcept { return output_->file().target().native(); }
  /// Those of the options that it was made with, and the file's.
  void add_warnings(std::vector<std::string>& warnings) const {
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
    output_->file().add_warnings(warnings);
  }

  /// Whether there is a table of blocks.
  bool is_listed() const noexcept { return !place_ || place_->listed; }
  /// Enters a block of `bytes` into the tables, behind the one entered before; returns its offset. From one
  /// thread at a time.
  std::int64_t place(std::int64_t block_index, std::int64_t bytes);
  /// Lets the next block begin at a multiple of `bytes`.
  void align(std::int64_t bytes) noexcept;
  /// Where the next block goes.
  std::int64_t next_offset() const noexcept;
  /// Writes bytes of a block to where it was placed. Thread-safe.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes) {
    output_->file().write_at(offset, bytes);
  }

  /// Writes the directory and adds the page to its file, which gets its name if that is all of it.
  void finish();

  /// Upper bound of the memory of all this.
  std::int64_t memory_bytes() const;

 private:
  class Books;

  TiffDirectory directory_;
  std::int64_t metadata_bytes_;
  std::vector<std::string> warnings_;
  std::shared_ptr<TiffOutput> output_;
  bool one_of_several_;
  std::optional<TiffPlace> place_;
  std::unique_ptr<Books> books_;
  TiffHandle handle_;
};

}  // namespace sepconv
