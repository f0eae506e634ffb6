// A TIFF that is open at one of its directories: the layout, the metadata, and where each block lies.
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

/// Where the file keeps a block. `bytes` 0: it is left out and its pixels are zero (GDAL's sparse files).
struct StoredBlock {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool sparse() const noexcept { return bytes == 0; }
};

/// The tables of blocks are loaded where they are asked for, so a file opens at once whatever its size.
class TiffFile {
 public:
  /// Throws IoError; see open_tiff.
  TiffFile(std::shared_ptr<const InputFile> file, TiffPage page);
  ~TiffFile();

  const InputFile& bytes() const noexcept { return *file_; }
  /// The file's, and the page where there are several images.
  const std::string& name() const noexcept { return handle_.name(); }
  const TiffDirectory& directory() const noexcept { return directory_; }
  const Metadata& metadata() const noexcept { return metadata_; }
  /// For a smaller level of this image: what it does not say of itself is true of both, with places moved.
  void inherit(const TiffFile& image);
  /// Takes what a world file next to the file says, if the page does not say where it lies.
  void take_place();
  /// Where the image has smaller ones.
  Levels levels() const;
  /// What of the page is not read, for SourceLayout::warnings.
  std::vector<std::string> warnings() const;

  /// Thread-safe. The block lies inside the file, or this throws IoError.
  StoredBlock locate(std::int64_t block_index);
  /// Whether all blocks can be looked up when the file is opened; else that would take time.
  bool has_short_tables() const noexcept { return directory_.block_count() <= std::int64_t{1} << 20; }
  /// Encoded bytes of all blocks; the whole file's when there are too many to look them all up.
  std::int64_t stored_bytes();

  /// Upper bound of the memory that all this takes, tables included.
  std::int64_t memory_bytes() const;

 private:
  void select_page();
  void check_tables();
  void describe_itself();
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
  std::int64_t plane_offset_ = 0;  // of the page's plane behind the directory's own
};

}  // namespace sepconv
