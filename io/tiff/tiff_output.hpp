// A TIFF in the making. Libtiff writes each page as a file of its own, whose header is kept; the chain of
// directories is made here, so that no page walks along those before it. Pages may grow side by side.
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

/// Pixels begin where a page of the system's cache does: where they began at byte 8, as libtiff has it, they
/// were written in three times the time, because processors copy slowly between addresses that differ within
/// a cache line.
inline constexpr std::int64_t kPixelAlignment = 4096;

class TiffOutput {
 public:
  TiffOutput(const std::filesystem::path& path, OutputFile::Options options, bool big_tiff)
      : file_(path, std::move(options)), big_tiff_(big_tiff) {}

  OutputFile& file() noexcept { return file_; }
  const OutputFile& file() const noexcept { return file_; }
  std::int64_t header_bytes() const noexcept { return big_tiff_ ? 16 : 8; }
  /// Where the next bytes go, of whichever page; 0 before the first.
  std::int64_t end() const noexcept { return end_; }
  void set_end(std::int64_t end) noexcept { end_ = end; }

  /// Makes it a Cloud Optimized GeoTIFF: returns where the first directory is to begin.
  std::int64_t begin_for_clouds();
  /// For such a file: blocks that are to be brought in order when all are there, in a file that goes with
  /// this.
  OutputFile& scratch() noexcept { return *scratch_; }
  std::int64_t scratch_end() const noexcept { return scratch_end_; }
  void set_scratch_end(std::int64_t end) noexcept { scratch_end_ = end; }

  /// Bytes that no page writes, and that are zeros in a new file. That of a partial result may have been made
  /// longer meanwhile.
  void add_gap(std::int64_t begin, std::int64_t end) {
    if (begin < end) gaps_.emplace_back(begin, end);
  }

  /// Where the directory lies that a page's header names.
  std::int64_t directory_in(std::span<const std::byte> header) const;
  /// A page whose directory is written, as its header says: it is the next of the file's chain. No header is
  /// written yet: a file without one is not a TIFF.
  void add(std::span<const std::byte> header);
  /// Writes the header and gives the file its name.
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
  std::int64_t last_link_ = 0;  // where the last directory says which is next
};

}  // namespace sepconv
