// The page that a writer makes: blocks get their places one after another, the directory comes last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/formats.hpp"
#include "io/tiff/tiff_directory.hpp"
#include "io/tiff/tiff_output.hpp"

namespace sepconv {

/// Where a page goes that is not to end the file with its pixels and then its directory. ImageJ's stacks have
/// the first directory before all planes, the planes one behind the other, and the other directories, if
/// there are any, behind them; files for clouds all directories first.
struct TiffPlace {
  std::optional<std::int64_t> pixels{};  ///< offset; unset: when all are there, at what is the end then
  std::int64_t directory = 0;            ///< offset of this many bytes:
  std::int64_t directory_bytes = 0;
  bool listed = true;  ///< whether the page gets a directory; else the first one speaks for it
};

/// Libtiff keeps the books and writes the directory; the blocks' bytes go past it, from many threads at once.
class TiffSink {
 public:
  /// Checks all fields; makes no file yet. Throws IoError.
  TiffSink(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory, const CreateOptions& options,
           std::optional<TiffPlace> place = {});
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
  /// Enters a block of `bytes` into the tables, at the file's end or in what is reserved; returns its offset.
  /// From one thread at a time.
  std::int64_t place(std::int64_t block_index, std::int64_t bytes);
  /// Keeps `bytes` of the file for this page's blocks: where its place says, else the next ones from a
  /// multiple of `alignment` on. Returns where.
  std::int64_t reserve(std::int64_t bytes, std::int64_t alignment);
  /// Writes bytes of a block to where it was placed. Thread-safe.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes) {
    waits() ? output_->scratch().write_at(offset, bytes) : output_->file().write_pixels_at(offset, bytes);
  }
  /// Whether another process can continue with it.
  bool is_resumable() const noexcept { return output_->file().partial() && !waits(); }
  /// Block, offset and bytes, in turns, of what was placed since the last call; of what is resumable.
  std::vector<std::int64_t> take_places() { return std::exchange(placed_, {}); }
  /// Enters what was placed so by another process: blocks that are there, or in a file of their own, from
  /// which they are copied.
  void restore(std::span<const std::int64_t> places, const std::filesystem::path& segment);
  /// For a page whose place has no offset of pixels: its blocks, which lie in the scratch file as they came,
  /// go to the file's end, in the order of the tables.
  void settle();

  /// Writes the directory, as the next of the file's chain, with these directories inside.
  void finish(std::span<const std::uint64_t> inside = {});
  /// The same for one that is inside of another page; returns where it lies.
  std::uint64_t finish_inside();
  /// Gives the file its name.
  void commit() { output_->commit(); }

  /// Upper bound of the memory of all this.
  std::int64_t memory_bytes() const;

 private:
  class OffsetTables;
  bool waits() const noexcept { return place_ && !place_->pixels; }
  std::int64_t enter(std::int64_t block_index, std::int64_t bytes);
  void copy_from(const InputFile& file, std::int64_t from, std::int64_t to, std::int64_t bytes);
  void write_exif();
  void write_directory();

  TiffDirectory directory_;
  std::int64_t metadata_bytes_;
  std::vector<std::string> warnings_;
  Exif exif_;
  std::shared_ptr<TiffOutput> output_;
  std::optional<TiffPlace> place_;
  std::unique_ptr<OffsetTables> books_;
  TiffHandle handle_;
  struct Waiting {
    std::int64_t offset = 0, bytes = 0;
  };
  std::vector<Waiting> waiting_;  // by block, in the scratch file
  std::vector<std::int64_t> placed_;
};

}  // namespace sepconv
