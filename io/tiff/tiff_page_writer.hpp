// Writes one page: blocks get their offsets one after another, the directory is written last.
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

/// Position of a page that does not simply append its pixels and then its directory. ImageJ's stacks have the
/// first directory before all planes, which are contiguous, and the other directories, if any, after them;
/// Cloud Optimized GeoTIFFs have all directories first.
struct TiffPagePosition {
  std::optional<std::int64_t> pixels{};  ///< offset; unset: at the file's end when all blocks are complete
  std::int64_t directory = 0;            ///< offset of `directory_bytes` bytes
  std::int64_t directory_bytes = 0;
  bool has_directory = true;  ///< false: the first page's directory describes this page, too
};

/// libtiff manages the block tables and writes the directory. The bytes of blocks are written without
/// libtiff, concurrently from many threads.
class TiffSink {
 public:
  /// Checks all fields; creates no file yet. Throws IoError.
  TiffSink(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory, const CreateOptions& options,
           std::optional<TiffPagePosition> position = {});
  ~TiffSink();

  const TiffDirectory& directory() const noexcept { return directory_; }
  const std::string& name() const noexcept { return output_->file().target().native(); }
  /// Adds the warnings of the options passed to the constructor, and the file's.
  void add_warnings(std::vector<std::string>& warnings) const {
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
    output_->file().add_warnings(warnings);
  }

  /// Whether the page has a directory and block tables.
  bool has_directory() const noexcept { return !position_ || position_->has_directory; }
  /// Adds a block of `bytes` to the tables, at the file's end or in the reserved range; returns its offset.
  /// From one thread at a time.
  std::int64_t place(std::int64_t block_index, std::int64_t bytes);
  /// Reserves `bytes` of the file for this page's blocks: at the page's position, or at the next multiple of
  /// `alignment`. Returns their offset.
  std::int64_t reserve(std::int64_t bytes, std::int64_t alignment);
  /// Writes bytes of a block at its offset. Thread-safe.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes) {
    is_deferred() ? output_->scratch().write_at(offset, bytes)
                  : output_->file().write_pixels_at(offset, bytes);
  }
  /// As those of OutputFile.
  int max_write_threads() const { return is_deferred() ? 1 : output_->file().max_write_threads(); }
  int begin_writes(int threads) { return is_deferred() ? 1 : output_->file().begin_writes(threads); }
  int write_threads_bound(int concurrency) const { return output_->file().write_threads_bound(concurrency); }
  std::int64_t write_memory_bytes(int concurrency) const { return output_->file().memory_bytes(concurrency); }
  /// Whether another process can resume writing the page.
  bool is_resumable() const noexcept { return output_->file().checkpoint() && !is_deferred(); }
  /// Returns block index, offset and size, as consecutive triples, of blocks placed since the last call, if
  /// resumable.
  std::vector<std::int64_t> take_block_positions() { return std::exchange(placed_, {}); }
  /// Adds blocks placed by another process to the tables, from such triples. The blocks are in this file, or
  /// in `segment`, from which they are copied.
  void restore(std::span<const std::int64_t> locations, const std::filesystem::path& segment);
  /// For a page without an offset of pixels: moves its blocks, which are in the scratch file in order of
  /// arrival, to the file's end, in the order of the tables.
  void copy_deferred();

  /// Writes the directory as the next of the file's chain, with these sub-directories.
  void finish(std::span<const std::uint64_t> sub_directories = {});
  /// Writes the directory as a sub-directory of another page; returns its offset.
  std::uint64_t finish_inside();
  /// Renames the file to its final name.
  void commit() { output_->commit(); }

  /// Upper bound of this object's memory.
  std::int64_t memory_bytes() const;

 private:
  class OffsetTables;
  bool is_deferred() const noexcept { return position_ && !position_->pixels; }
  std::int64_t add_to_tables(std::int64_t block_index, std::int64_t bytes);
  void copy_from(const InputFile& file, std::int64_t from, std::int64_t to, std::int64_t bytes);
  void write_exif();
  void write_directory();

  TiffDirectory directory_;
  std::int64_t metadata_bytes_;
  std::vector<std::string> warnings_;
  Exif exif_;
  std::shared_ptr<TiffOutput> output_;
  std::optional<TiffPagePosition> position_;
  std::unique_ptr<OffsetTables> offset_tables_;
  TiffHandle handle_;
  struct DeferredBlock {
    std::int64_t offset = 0, bytes = 0;
  };
  std::vector<DeferredBlock> deferred_;  // by block index, in the scratch file
  std::vector<std::int64_t> placed_;
};

}  // namespace sepconv
