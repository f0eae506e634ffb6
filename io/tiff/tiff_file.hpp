// A TIFF opened at one of its directories: layout, metadata, and the offset of each block.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/byte_file.hpp"
#include "io/tiff/tiff_directory.hpp"
#include "io/tiff/tiff_page.hpp"

namespace sepconv {

/// Location of a block in the file. `bytes` 0: the block is omitted and its pixels are zero (GDAL's sparse
/// files).
struct StoredBlock {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool sparse() const noexcept { return bytes == 0; }
};

/// Block tables are loaded on demand, so a file of any size opens immediately.
class TiffFile {
 public:
  /// Throws IoError; see open_tiff.
  TiffFile(std::shared_ptr<const InputFile> file, TiffPage page);
  ~TiffFile();

  const InputFile& bytes() const noexcept { return *file_; }
  /// The file's name, with the page if there are several images.
  const std::string& name() const noexcept { return handle_.name(); }
  const TiffDirectory& directory() const noexcept { return directory_; }
  const Metadata& metadata() const noexcept { return metadata_; }
  /// For a smaller level of `image`: adopts metadata that the level lacks, with positions scaled.
  void inherit(const TiffFile& image);
  /// Reads a world file next to the file, if the page has no georeference.
  void apply_world_file();
  /// Where the smaller levels are stored.
  Levels levels() const;
  /// Reports parts of the page that are not read, for SourceLayout::warnings.
  std::vector<std::string> warnings() const;

  /// Thread-safe. Throws IoError if the block is not within the file.
  StoredBlock locate(std::int64_t block_index);
  /// Whether the tables are short enough to look up all blocks when the file is opened.
  bool has_short_tables() const noexcept { return directory_.block_count() <= std::int64_t{1} << 20; }
  /// Encoded bytes of all blocks; the file's size if there are too many to look up.
  std::int64_t stored_bytes();

  /// Upper bound of this object's memory, tables included.
  std::int64_t memory_bytes() const;

 private:
  void select_page();
  void check_tables();
  void resolve_description();
  void read_slide();
  void find_plane();

  std::shared_ptr<const InputFile> file_;
  TiffPage page_;
  std::unique_ptr<TiffBytes> source_;
  std::mutex mutex_;
  TiffHandle handle_;
  TiffDirectory directory_;
  Metadata metadata_;
  std::vector<std::string> tags_left_out_;
  std::int64_t plane_offset_ = 0;  // of the page's plane, relative to the directory's pixels
};

}  // namespace sepconv
