// Output of a TIFF. libtiff writes each page as if it were a separate file, whose header is kept in memory;
// the chain of directories is built here, so that no page walks along earlier ones. Pages may grow
// concurrently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/byte_file.hpp"

namespace sepconv {

/// Pixels begin at a page boundary of the system's file cache. Starting at byte 8, libtiff's default, tripled
/// the time to write them, because processors copy slowly between addresses with different offsets in a cache
/// line.
inline constexpr std::int64_t kPixelAlignment = 4096;

class TiffOutput {
 public:
  TiffOutput(const std::filesystem::path& path, OutputFile::Options options, bool big_tiff)
      : file_(path, std::move(options)), big_tiff_(big_tiff) {}

  OutputFile& file() noexcept { return file_; }
  const OutputFile& file() const noexcept { return file_; }
  std::int64_t header_bytes() const noexcept { return big_tiff_ ? 16 : 8; }
  /// Offset of the next bytes of any page; 0 before the first.
  std::int64_t end() const noexcept { return end_; }
  void set_end(std::int64_t end) noexcept { end_ = end; }

  /// Makes it a Cloud Optimized GeoTIFF; returns the offset of the first directory.
  std::int64_t begin_cog();
  /// For such a file: a temporary file next to it for blocks, which are put in order when all are complete.
  OutputFile& scratch() noexcept { return *scratch_; }
  std::int64_t scratch_end() const noexcept { return scratch_end_; }
  void set_scratch_end(std::int64_t end) noexcept { scratch_end_ = end; }

  /// Adds a range that no page writes, and that is zero in a new file. The file of a partial result may have
  /// been extended before.
  void add_gap(std::int64_t begin, std::int64_t end) {
    if (begin < end) gaps_.emplace_back(begin, end);
  }

  /// Offset of the directory in a page's header.
  std::int64_t directory_offset(std::span<const std::byte> header) const;
  /// Adds a page whose directory is written, given its header, to the file's chain. Does not write the header
  /// yet: a file without one is not a TIFF.
  void add(std::span<const std::byte> header);
  /// Writes the header and renames the file to its final name.
  void commit();

 private:
  void clear_gaps();

  OutputFile file_;
  std::optional<OutputFile> scratch_;
  std::int64_t scratch_end_ = 0;
  bool big_tiff_;
  std::array<std::byte, 16> header_{};
  std::int64_t end_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps_;
  std::int64_t link_offset_ = 0;  // where the last directory stores the offset of the next
};

}  // namespace sepconv
