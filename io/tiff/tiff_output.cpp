#include "io/tiff/tiff_output.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "core/geometry.hpp"
#include "io/byte_order.hpp"

namespace sepconv {
namespace {

/// GDAL's "COG: Cloud Optimized GeoTIFF" driver, "Header ghost area": the size is that of the text after the
/// first line, whose last byte is reserved for programs that change the file.
constexpr std::string_view kGhostArea =
    "GDAL_STRUCTURAL_METADATA_SIZE=000077 bytes\n"
    "LAYOUT=IFDS_BEFORE_DATA\n"
    "BLOCK_ORDER=ROW_MAJOR\n"
    "KNOWN_INCOMPATIBLE_EDITION=NO\n ";

constexpr bool kBigEndian = std::endian::native == std::endian::big;  // libtiff writes native byte order

}  // namespace

std::int64_t TiffOutput::begin_cog() {
  scratch_.emplace(file_.target(), OutputFile::Options{.overwrite = true});
  return round_up(header_bytes() + std::ssize(kGhostArea), 2);
}

std::int64_t TiffOutput::directory_offset(std::span<const std::byte> header) const {
  return static_cast<std::int64_t>(
      read_unsigned(big_tiff_ ? header.subspan(8, 8) : header.subspan(4, 4), kBigEndian));
}

void TiffOutput::add(std::span<const std::byte> header) {
  const std::int64_t directory = directory_offset(header);
  const int count_bytes = big_tiff_ ? 8 : 2;
  if (link_offset_ == 0) {
    std::ranges::copy(header, header_.begin());
  } else {
    file_.write_at(link_offset_, big_tiff_ ? header.subspan(8, 8) : header.subspan(4, 4));
  }
  std::array<std::byte, 8> entries{};
  const auto count = std::span(entries).first(static_cast<std::size_t>(count_bytes));
  file_.read_some_at(directory, count);
  link_offset_ = directory + count_bytes +
                 static_cast<std::int64_t>(read_unsigned(count, kBigEndian)) * (big_tiff_ ? 20 : 12);
}

void TiffOutput::clear_gaps() {
  const std::vector<std::byte> zeros(static_cast<std::size_t>(kPixelAlignment));
  for (const auto& [begin, end] : gaps_)
    for (std::int64_t at = begin; at < end; at += kPixelAlignment)
      file_.write_at(at,
                     std::span(zeros).first(static_cast<std::size_t>(std::min(kPixelAlignment, end - at))));
}

void TiffOutput::commit() {
  if (scratch_) {
    file_.write_at(header_bytes(), std::as_bytes(std::span(kGhostArea)));
  }
  // The last tile's padding below the image was not written; and a process that was killed may have written
  // beyond the end.
  if (scratch_ || file_.checkpoint()) file_.resize(end_);
  if (file_.checkpoint()) clear_gaps();
  file_.write_at(0, std::span(header_).first(static_cast<std::size_t>(header_bytes())));
  file_.commit();
}

}  // namespace sepconv
