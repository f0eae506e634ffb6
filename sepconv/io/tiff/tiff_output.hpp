// A TIFF in the making, page by page. Libtiff writes each page as a file of its own, whose header is kept;
// the chain of directories is made here, so that no page walks along those before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "sepconv/io/byte_file.hpp"

namespace sepconv {

class TiffOutput {
 public:
  TiffOutput(const std::filesystem::path& path, OutputFile::Options options, bool big_tiff)
      : file_(path, options), big_tiff_(big_tiff) {}

  OutputFile& file() noexcept { return file_; }
  const OutputFile& file() const noexcept { return file_; }
  std::int64_t header_bytes() const noexcept { return big_tiff_ ? 16 : 8; }
  /// Where the next page's bytes go; 0 before the first.
  std::int64_t end() const noexcept { return end_; }

  /// A page whose directory is written, as its header says, and which ends before `end`. No header is written
  /// yet: a file without one is no TIFF.
  void add(std::span<const std::byte> header, std::int64_t end);
  /// Writes the header and gives the file its name.
  void commit();

 private:
  std::int64_t directory_in(std::span<const std::byte> header) const;

  OutputFile file_;
  bool big_tiff_;
  std::array<std::byte, 16> header_{};
  std::int64_t end_ = 0;
  std::int64_t last_link_ = 0;  // where the last directory says which is next
};

}  // namespace sepconv
