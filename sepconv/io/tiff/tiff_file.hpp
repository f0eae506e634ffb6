// A TIFF that is open at one of its directories: the layout, the metadata, and where each block lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/tiff/tiff_directory.hpp"
#include "sepconv/io/tiff/tiff_entries.hpp"

namespace sepconv {

/// Where the file keeps a block. `bytes` 0: it is left out and its pixels are zero (GDAL's sparse files).
struct StoredBlock {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool sparse() const noexcept { return bytes == 0; }
};

/// What the chain of directories says of one of them, before libtiff reads it.
struct TiffPage {
  int index = 0;
  TiffEntries entries;
  int images = 0;   ///< in the file; counted only as far as that matters where a page was asked for
  int reduced = 0;  ///< overviews that follow the page
  int masks = 0;    ///< and belong to it
  std::int64_t max_tag_bytes = 0;          ///< larger tags are left out
  std::int64_t tag_bytes = 0;              ///< of those that are not
  std::vector<std::uint32_t> too_large{};  ///< those
};

/// The page that was asked for, else the file's only image. Throws IoError where several could be meant and
/// where the chain of directories is broken; a page that is not there has no entries.
TiffPage find_page(const InputFile& file, std::optional<int> asked);

/// The tables of blocks are loaded where they are asked for, so a file opens at once whatever its size.
class TiffFile {
 public:
  /// Throws IoError; see open_tiff.
  TiffFile(InputFile file, std::optional<int> page);
  ~TiffFile();

  const InputFile& bytes() const noexcept { return file_; }
  const std::string& name() const noexcept { return file_.path().native(); }
  const TiffDirectory& directory() const noexcept { return directory_; }
  const Metadata& metadata() const noexcept { return metadata_; }
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
  void check_tables() const;

  InputFile file_;
  TiffPage page_;
  std::unique_ptr<TiffBytes> source_;
  std::mutex mutex_;
  TiffHandle handle_;
  TiffDirectory directory_;
  Metadata metadata_;
};

/// What is known of a file without reading any of its directories.
struct TiffPages {
  std::int64_t count = 0;
  std::int64_t images = 0;  ///< of them those that are neither overviews nor masks
  std::int64_t file_bytes = 0;
  bool big_tiff = false;
};
TiffPages count_tiff_pages(const InputFile& file);

}  // namespace sepconv
